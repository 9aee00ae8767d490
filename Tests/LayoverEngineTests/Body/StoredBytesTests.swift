import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// What `limits.spoolTotal` counts besides files.
struct StoredBytesTests {
    private let bench: BodyBench

    init() throws { bench = try BodyBench() }

    @Test func bodyInARowCountsUntilTheStoreRemovesIt() async throws {
        let spool = bench.folder.spool()
        #expect(try await bench.persisted(bench.whole(500, spool))?.byteCount == 500)
        #expect(spool.usedByteCount == 500, "the store has it, so it counts without us")
        spool.removedStored(500)
        #expect(spool.usedByteCount == 0)
    }

    /// Its tokens are replaced in memory, so it never sees a file, however long it is.
    @Test func longBodyInARowIsRefusedWhenTheSpoolIsFull() async throws {
        let spool = bench.folder.spool(byteCountMax: 50_000)
        let bytes = ByteBuffer(repeating: 120, count: 30_000)
        let first = CapturedBody(.inline(bytes), limits: .small(), spool: spool)
        #expect(try await bench.persisted(first) == .inline(bytes))
        let second = CapturedBody(.inline(bytes), limits: .small(), spool: spool)
        #expect(try await bench.persisted(second) == nil)
        #expect(second.storingFailure == .limit(50_000))
        #expect(spool.usedByteCount == 30_000)
    }

    @Test func refusedBodyTakesNoRoomFromOneThatFits() async {
        let spool = bench.folder.spool(byteCountMax: 100)
        let failures = await withTaskGroup(of: Int.self) { group in
            group.addTask { (0..<200_000).count { _ in spool.reserve(101) } }
            group.addTask {
                (0..<200_000).count { _ in
                    guard spool.reserve(100) else { return true }
                    spool.release(100)
                    return false
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
        #expect(spool.usedByteCount == 0)
    }

    @Test func repeatedPersistCountsOnceAndDisownedBodiesNotAtAll() async throws {
        let spool = bench.folder.spool()
        let body = try await bench.whole(500, spool)
        _ = try await bench.persisted(body)
        #expect(try await bench.persisted(body)?.byteCount == 500)
        #expect(spool.usedByteCount == 500)
        body.disown()
        #expect(spool.usedByteCount == 0, "at once: it may be given to the store again")
        #expect(try await bench.persisted(body)?.byteCount == 500)
        #expect(spool.usedByteCount == 500)
    }

    @Test func smallResponseIsKeptAndCountedWhenTheSpoolIsFull() async throws {
        let spool = bench.folder.spool(byteCountMax: 100)
        #expect(try await bench.persisted(bench.whole(500, spool), isForced: true)?.byteCount == 500)
        #expect(spool.usedByteCount == 500)
        #expect(try await bench.persisted(bench.whole(1, spool)) == nil)
    }
}
