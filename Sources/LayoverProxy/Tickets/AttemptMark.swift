import Dispatch
import LayoverCore
import LayoverEngine
import Synchronization

/// The note on disk that the first byte of an attempt is about to leave. Whoever comes after a crash knows then that
/// it may have been applied.
final class AttemptMark: Sendable {
    private let store: any PendingStore
    private let id: EntryID
    private let revision: Int
    private let isRefused = Atomic<Bool>(false)

    init(store: any PendingStore, id: EntryID, revision: Int) {
        self.store = store
        self.id = id
        self.revision = revision
    }

    /// Whether the store did not take it, so that nothing was sent.
    var wasRefused: Bool { isRefused.load(ordering: .acquiring) }

    /// What the worker asks before it sends. Blocks until the note is on disk.
    func closure(for counts: AttemptCounts) -> @Sendable () -> Bool {
        { [self] in
            let isDone = DispatchSemaphore(value: 0)
            isRefused.store(true, ordering: .releasing)
            commit(counts) { [self] isMarked in
                isRefused.store(!isMarked, ordering: .releasing)
                isDone.signal()
            }
            isDone.wait()
            return !wasRefused
        }
    }

    private func commit(_ counts: AttemptCounts, done: @escaping @Sendable (Bool) -> Void) {
        store.commit([.started(id, revision: revision, counts: counts)]) { result in
            if case .success(let results) = result { done(results.first == .done) } else { done(false) }
        }
    }
}
