import Dispatch
import LayoverEngine
import Logging
import Synchronization

/// Keeps the last failure until a group of changes is committed completely, and logs it.
///
/// On a full disk some changes go through while others do not. So the log is told once when a trouble begins, once for
/// each other kind that it turns into, and once when it is over, which is when nothing has failed for a while.
final class StoreHealth: Sendable {
    static let closed = StoreFailure(.closed, "The store is closed.")

    /// From the first failure until nothing has failed for the length of the pause.
    private struct Trouble {
        var since: ContinuousClock.Instant
        /// The kinds of the failures that were logged.
        var kinds: Set<StoreFailure.Kind> = []
        /// Calls that were refused.
        var refusedCount = 0
        /// Failures so far. A check that was scheduled before the last of them does not end the trouble.
        var failureCount = 0
    }

    private struct State {
        var failure: StoreFailure?
        var trouble: Trouble?
    }

    private let state = Mutex(State())
    private let logger: Logger
    private let pause: DispatchTimeInterval
    private let timers = DispatchQueue(label: "layover.store.health")

    /// - Parameter pause: How long nothing must have failed before a trouble is over. Default: 5 s.
    init(logger: Logger, pause: DispatchTimeInterval = .seconds(5)) {
        self.logger = logger
        self.pause = pause
    }

    var lastFailure: StoreFailure? { state.withLock { $0.failure } }

    /// The results of the calls of a group.
    func note(_ results: [Result<[StoreResult], StoreFailure>]) {
        var failure: StoreFailure?
        var count = 0
        var isProof = false
        for result in results {
            switch result {
            case .failure(let new):
                failure = new
                count += 1
            case .success(let changes): isProof = isProof || !changes.isEmpty
            }
        }
        // A commit without changes writes nothing: it does not show that the disk is well, and takes the place of no failed commit.
        if failure != nil || isProof { note(failure, refusedCount: count) }
    }

    /// - Parameter new: The newest failure. Nil: all went well.
    func note(_ new: StoreFailure?, refusedCount: Int = 1) {
        guard let new else { return recovered() }
        let isNews = state.withLock { state in
            state.failure = new
            var trouble = state.trouble ?? Trouble(since: .now)
            defer { state.trouble = trouble }
            trouble.refusedCount += refusedCount
            trouble.failureCount += 1
            return trouble.kinds.insert(new.kind).inserted
        }
        guard isNews else { return }
        logger.error(
            new.kind == .other ? "the store refused a change" : "the store cannot save changes",
            metadata: ["error": "\(new)"])
    }

    private func recovered() {
        let failureCount: Int? = state.withLock { state in
            guard state.failure != nil else { return nil }
            state.failure = nil
            return state.trouble?.failureCount
        }
        guard let failureCount else { return }
        timers.asyncAfter(deadline: .now() + pause) { [self] in endTrouble(ifStillAt: failureCount) }
    }

    private func endTrouble(ifStillAt failureCount: Int) {
        let ended: Trouble? = state.withLock { state in
            guard state.failure == nil, let trouble = state.trouble, trouble.failureCount == failureCount else { return nil }
            state.trouble = nil
            return trouble
        }
        guard let ended else { return }
        let seconds = (ContinuousClock.now - ended.since).components.seconds
        logger.notice(
            "the store can save changes again", metadata: ["refused": "\(ended.refusedCount)", "seconds": "\(seconds)"])
    }
}
