import Foundation
import LayoverEngine
@testable import LayoverStore
import LayoverTestSupport
import NIOCore
import Testing

/// On a small file system of its own, which only root can mount.
@Suite(.enabled(if: getuid() == 0, "needs root"), .serialized)
struct FullDiskTests {
    private func withSmallDisk(_ body: (String) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        #expect(mount("tmpfs", path, "tmpfs", 0, "size=2m") == 0)
        do {
            try await body(path)
        } catch {
            umount2(path, Int32(MNT_DETACH))
            throw error
        }
        umount2(path, Int32(MNT_DETACH))
    }

    private static let request = StoredRequest.fixture(.inline(ByteBuffer(repeating: 7, count: 20_000)))

    @Test func fullDiskTakesOnlyChangesThatFreeSpaceAndRecovers() async throws {
        try await withSmallDisk { path in
            let store = try SQLiteStore.open(options: .quiet(path))
            try await store.insert(1...5, Self.request)
            let ballast = path + "/ballast"
            let ballastByteCount = fillUp(ballast)
            var accepted = 5
            var refusal: StoreFailure?
            for number in 6...200 {
                do {
                    _ = try await store.commit([.insert(.fixture(number), Self.request, nil)])
                    accepted = number
                } catch let failure as StoreFailure {
                    refusal = failure
                    break
                }
            }
            #expect(refusal?.kind == .full)
            #expect(refusal?.mayBeStored == false)
            #expect(store.condition.failure?.kind == .full)
            #expect(try store.live().map(\.sequence) == Array(1...accepted))
            // A little space: what takes none goes through in the midst of what takes too much.
            #expect(truncate(ballast, off_t(ballastByteCount - 128 << 10)) == 0)
            let big = StoredRequest.fixture(.inline(ByteBuffer(repeating: 7, count: 300_000)))
            let refused = Watched(0)
            for number in 301...340 {
                store.commit([.insert(.fixture(number), big, nil)]) { result in
                    if (try? result.get()) == nil { refused.update { $0 += 1 } }
                }
                if number == 320 {
                    store.commit([.started(.fixture(2), revision: 1, counts: .init(all: 1))]) { result in
                        if (try? result.get()) == [.done] { refused.update { $0 += 1000 } }
                    }
                }
            }
            _ = try? await store.commit([])
            #expect(refused.value == 1040)
            #expect(try await store.record(of: .fixture(2))?.state == .attempting)
            #expect(try await store.request(of: .fixture(3)) == Self.request)
            // Space comes back: the same store goes on.
            try FileManager.default.removeItem(atPath: ballast)
            try await store.insert(501...505, Self.request)
            #expect(store.condition.failure == nil)
            await store.close()
            let again = try SQLiteStore.open(options: .quiet(path))
            #expect(try again.live().map(\.sequence) == Array(1...accepted) + Array(501...505))
            await again.close()
        }
    }

    @Test func fullDiskAtTheStartIsReported() async throws {
        try await withSmallDisk { path in
            fillUp(path + "/ballast")
            #expect(await failure { try SQLiteStore.open(options: .quiet(path + "/new")) }?.kind == .full)
            try FileManager.default.removeItem(atPath: path + "/ballast")
            await (try SQLiteStore.open(options: .quiet(path + "/new"))).close()
        }
    }

    @Test func readOnlyDiskAtTheStartIsReportedAndUnchanged() async throws {
        try await withSmallDisk { path in
            let store = try SQLiteStore.open(options: .quiet(path))
            try await store.insert(1...5)
            await store.close()
            #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
            #expect(await failure { try SQLiteStore.open(options: .quiet(path)) }?.kind == .readOnly)
            #expect(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), nil) == 0)
            let again = try SQLiteStore.open(options: .quiet(path))
            #expect(try again.live().count == 5)
            await again.close()
        }
    }

    /// Takes all the space there is, and says how much.
    @discardableResult
    private func fillUp(_ path: String) -> Int {
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        let chunk = [UInt8](repeating: 1, count: 4096)
        while chunk.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) > 0 {}
        close(file)
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}
