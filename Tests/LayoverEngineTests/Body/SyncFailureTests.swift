import Foundation
import Glibc
import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// What a disk that failed once is trusted with.
struct SyncFailureTests {
    private let folder: SpoolFolder
    private let results = Watched<[StoredBody?]>([])
    private static let name = "0123456789abcdef0123456789abcdef.request"

    init() throws { folder = try SpoolFolder() }

    private func persist(_ body: CapturedBody) async throws -> StoredBody? {
        body.persist(as: Self.name) { [results] stored in results.update { $0.append(stored) } }
        return try await results.take("the end of persisting") { $0.isEmpty ? nil : .some($0.removeFirst()) }
    }

    /// The kernel says once that it could not write, and may have thrown the bytes away: the next sync of the same file
    /// succeeds, and says nothing (fsync(2)).
    @Test func fileWithAFailedSyncIsNeverReportedAsSaved() async throws {
        let body = CapturedBody(
            length: nil, mayBeSentTwice: true, limits: .small(), spool: folder.spool(), clientResumed: {}, stuck: {})
        _ = body.append(ByteBuffer(repeating: 120, count: 50_000))
        body.finish()
        let spooled = try await openFile(in: folder.path, holding: 50_000)
        let real = dup(spooled)
        // It takes all, and its sync fails (fdatasync(2), EINVAL).
        let broken = open("/dev/null", O_RDWR)
        #expect(dup2(broken, spooled) == spooled)
        #expect(try await persist(body) == nil)
        #expect(dup2(real, spooled) == spooled)
        for descriptor in [broken, real] { close(descriptor) }
        #expect(try await persist(body) == nil, "the disk works again, and nobody knows what it has")
        #expect(body.storingFailure == .system(EINVAL))
        #expect(folder.files.isEmpty)
    }
}
