import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Synchronization
import Testing

/// A store of the test's own: it can be made to wait, to fail, and to be found again by the next process.
final class TestStore: Sendable {
    let folder: String
    let store: MemoryStore
    let spoolTotal: Int
    private let disk: MemoryDisk
    private let gate = StoreGate()
    private let isLast = Mutex(true)
    private let isFull = Watched(false)
    private let unreadable = Watched<StoreFailure?>(nil)
    private let unsearchable = Watched<StoreFailure?>(nil)

    /// - Parameter failing: Commits that fail, by their number from 1.
    init(failing: ClosedRange<Int>? = nil, as failure: StoreFailure = .init(.full, "Full."), spoolTotal: Int = 1 << 30) {
        folder = NSTemporaryDirectory() + "layover-tickets-" + UUID().uuidString
        self.spoolTotal = spoolTotal
        disk = MemoryDisk(spoolFolder: folder)
        store = Self.store(on: disk, gate, isFull, unreadable, unsearchable, failing, failure)
    }

    /// The same disk, found by another process.
    init(after other: TestStore, failing: ClosedRange<Int>? = nil) {
        (folder, disk, spoolTotal) = (other.folder, other.disk, other.spoolTotal)
        other.isLast.withLock { $0 = false }
        other.store.die()
        store = Self.store(on: disk, gate, isFull, unreadable, unsearchable, failing, .init(.full, "Full."))
    }

    deinit {
        if isLast.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func store(
        on disk: MemoryDisk, _ gate: StoreGate, _ isFull: Watched<Bool>, _ unreadable: Watched<StoreFailure?>,
        _ unsearchable: Watched<StoreFailure?>, _ failing: ClosedRange<Int>?, _ failure: StoreFailure
    ) -> MemoryStore {
        var faults = MemoryFaults(trouble: { isFull.value ? failure : nil })
        faults.unreadable = { unreadable.value }
        faults.unsearchable = { unsearchable.value }
        for number in failing ?? 0...0 { faults.failures[number] = failure }
        return MemoryStore(on: disk, faults: faults, schedule: { gate.run($0) })
    }

    /// Commits and reads wait until `goOn`.
    func halt() { gate.shut() }

    func goOn() { gate.open() }

    /// From now on no commit succeeds, or every one does.
    func setFull(_ value: Bool) { isFull.update { $0 = value } }

    /// From now on no request can be read, or every one can.
    func setUnreadable(_ failure: StoreFailure?) { unreadable.update { $0 = failure } }

    /// From now on no search for a key succeeds, or every one does.
    func setUnsearchable(_ failure: StoreFailure?) { unsearchable.update { $0 = failure } }

    /// Until somebody waits for the store.
    func waitForWork() async throws { try await gate.waiting.wait("work for the store") { $0 > 0 } }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? [] }

    /// A file that somebody removed who had no business to.
    func lose(_ name: String) { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }

    /// Waits for a file in the folder to have so many bytes, and has it take all and give nothing back.
    func makeSpoolUnreadable(holding byteCount: Int) async throws {
        let descriptor = try await openFile(in: folder, holding: byteCount)
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(sink) }
        #expect(dup2(sink, descriptor) == descriptor)
    }

    func record(of id: EntryID) async throws -> TicketRecord? { try await store.record(of: id) }
    func request(of id: EntryID) async throws -> StoredRequest? { try await store.request(of: id) }

    /// Until what was handed in before is on disk.
    func settle() async throws { _ = try? await store.commit([]) }
}

/// Runs what it is given in order, on a thread of its own; or keeps it while it is shut.
private final class StoreGate: Sendable {
    private let kept = Mutex<(isShut: Bool, work: [@Sendable () -> Void])>((false, []))
    private let thread = DispatchQueue(label: "test store")
    let waiting = Watched(0)

    // The count changes under the lock. Otherwise late work of one halt could count for the next one.
    func run(_ work: @escaping @Sendable () -> Void) {
        kept.withLock { kept in
            guard kept.isShut else { return thread.async(execute: work) }
            kept.work.append(work)
            waiting.update { $0 += 1 }
        }
    }

    func shut() { kept.withLock { $0.isShut = true } }

    func open() {
        kept.withLock { kept in
            waiting.update { $0 = 0 }
            kept.isShut = false
            for work in kept.work { thread.async(execute: work) }
            kept.work = []
        }
    }
}
