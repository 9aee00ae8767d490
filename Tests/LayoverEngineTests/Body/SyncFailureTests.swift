import Foundation
import Glibc
import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// What a disk that failed once is trusted with.
struct SyncFailureTests {
    private let bench: BodyBench

    init() throws { bench = try BodyBench() }

    /// The kernel says once that it could not write, and may have thrown the bytes away: the next sync of the same file
    /// succeeds, and says nothing (fsync(2)).
    @Test func fileWithAFailedSyncIsNeverReportedAsSaved() async throws {
        let body = bench.body()
        _ = body.append(ByteBuffer(repeating: 120, count: 50_000))
        body.finish()
        let spooled = try await openFile(in: bench.folder.path, holding: 50_000)
        let real = dup(spooled)
        // It takes all, and its sync fails (fdatasync(2), EINVAL).
        let broken = open("/dev/null", O_RDWR)
        #expect(dup2(broken, spooled) == spooled)
        #expect(try await bench.persisted(body) == nil)
        #expect(dup2(real, spooled) == spooled)
        for descriptor in [broken, real] { close(descriptor) }
        #expect(try await bench.persisted(body) == nil, "the disk works again, and nobody knows what it has")
        #expect(body.storingFailure == .system(EINVAL))
        #expect(bench.folder.files.isEmpty)
    }
}
