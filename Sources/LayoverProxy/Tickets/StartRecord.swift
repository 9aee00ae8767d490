import Dispatch
import LayoverCore
import LayoverEngine
import Synchronization

/// The record on disk that the first byte of an attempt is about to leave: after a crash it shows that the request may have been
/// applied.
///
/// The engine writes it, because it knows how the ticket stands by then.
final class StartRecord: Sendable {
    private let engine: Engine
    private let id: EntryID
    private let isRefused = Atomic<Bool>(false)

    init(engine: Engine, id: EntryID) {
        self.engine = engine
        self.id = id
    }

    /// Whether it was not written, so that nothing was sent.
    var wasRefused: Bool { isRefused.load(ordering: .acquiring) }

    /// What the worker asks before it sends. Blocks until the record is on disk.
    func closure(for counts: AttemptCounts, by exchange: any HeldExchange) -> @Sendable () -> Bool {
        { [self] in
            let isDone = DispatchSemaphore(value: 0)
            write(counts, by: exchange) { _ in isDone.signal() }
            isDone.wait()
            return !wasRefused
        }
    }

    /// The same for a worker that does not block: it may send once it is told true.
    func write(_ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void) {
        isRefused.store(true, ordering: .releasing)
        engine.recordStart(id, counts, by: exchange) { [self] isMarked in
            isRefused.store(!isMarked, ordering: .releasing)
            done(isMarked)
        }
    }
}
