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

    /// Whether the record was not written, so that nothing was sent.
    var wasRefused: Bool { isRefused.load(ordering: .acquiring) }

    /// The permit that the worker asks for before it sends: granted once the record is on disk.
    func permit(for counts: AttemptCounts, by exchange: any HeldExchange) -> SendingPermit {
        { [self] answer in write(counts, by: exchange, done: answer) }
    }

    func write(_ counts: AttemptCounts, by exchange: any HeldExchange, done: @escaping @Sendable (Bool) -> Void) {
        engine.recordStart(id, counts, by: exchange) { [self] isMarked in
            isRefused.store(!isMarked, ordering: .releasing)
            done(isMarked)
        }
    }
}
