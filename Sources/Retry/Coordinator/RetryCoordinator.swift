import Synchronization

/// The object that operations in trouble wait on together, and that a screen or a person steers.
///
/// Wrap each operation in ``run(_:operation:)``. When one fails with an error that is worth waiting out it
/// does not fail: it waits here. The screen shows a message while ``isVisible``, and its two buttons call
/// ``retry()`` and ``cancel()``, for all operations at once. There is one message however many operations
/// are in trouble.
///
/// ```swift
/// let coordinator = RetryCoordinator(countdown: .seconds(3), automaticRetryCountMax: 3) { $0 is OfflineError }
/// let page = try await coordinator.run("front page") { _ in try await load(frontPage) }
/// ```
///
/// The rules are those of ``RetryIncident``. A coordinator can be used from any task or thread. The tasks
/// that wait keep it alive; apart from a running countdown it owns no task.
public final class RetryCoordinator: Sendable {
    private struct State {
        var incident: RetryIncident
        var waiters: [RetryIncident.MemberID: CheckedContinuation<Void, any Error>] = [:]
        var countdown: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let visibilityChanges = Broadcast<Bool>()
    private let failed = Broadcast<FailedOperation>()
    private let isWorthWaiting: @Sendable (any Error) -> Bool
    private let clock: any Clock<Duration>

    /// Failures that a reader of ``failures`` may be behind before it misses the oldest ones.
    public static let unreadFailureCountMax = 256

    /// Makes a coordinator that nobody waits on.
    ///
    /// - Parameters:
    ///   - countdown: How long operations wait before they run again by themselves. Default: nil, never by time.
    ///   - automaticRetryCountMax: Most retries, by countdown or wake-up, before only ``retry()`` and
    ///     ``cancel()`` count. Starts anew when all trouble is over. Default: nil, without end.
    ///   - clock: Measures the countdown. Default: `ContinuousClock`.
    ///   - isWorthWaiting: Says which errors are waited out. Others are thrown at once, and so is every
    ///     `CancellationError`. Default: every error is waited out.
    public init(
        countdown: Duration? = nil,
        automaticRetryCountMax: Int? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        waitingOut isWorthWaiting: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        state = Mutex(
            State(
                incident: RetryIncident(
                    countdown: countdown, automaticRetryCountMax: automaticRetryCountMax)))
        self.clock = clock
        self.isWorthWaiting = isWorthWaiting
    }

    deinit { state.withLock { $0.countdown }?.cancel() }

    /// The rules and their state as they are now: how many wait, whether time counts down, what is left.
    public var incident: RetryIncident { state.withLock { $0.incident } }

    /// Whether the message that there is trouble is to be seen. True from the first failure until every
    /// operation in trouble has ended.
    public var isVisible: Bool { incident.isVisible }

    /// Whether the message is to be seen: the value now, then each change.
    ///
    /// Each call makes a stream of its own. A slow reader misses changes but never the latest value, so it
    /// may find the same value twice.
    public var visibility: AsyncStream<Bool> {
        state.withLock { state in
            visibilityChanges.stream(
                startingWith: state.incident.isVisible, buffering: .bufferingNewest(1))
        }
    }

    /// Which operation failed and why, each time one does. Errors that are not waited out are not told.
    ///
    /// Each call makes a stream of its own, of the failures from then on. A reader that is more than
    /// ``unreadFailureCountMax`` behind misses the oldest ones.
    public var failures: AsyncStream<FailedOperation> {
        failed.stream(buffering: .bufferingNewest(Self.unreadFailureCountMax))
    }

    /// Runs everything again that waits. Operations that are under way get one more attempt if they fail.
    public func retry() { record { $0.retryRequested() } }

    /// Makes everything that waits fail with a `CancellationError`. What runs again at the moment may still
    /// succeed, but does not wait again.
    public func cancel() { record { $0.cancelRequested() } }

    /// Runs everything again that waits, because the way may be open; counts as an automatic retry.
    public func wakeUp() { record { $0.wokenUp() } }

    /// Calls ``wakeUp()`` for each element of a sequence. Returns when the sequence has ended or the task is
    /// cancelled.
    ///
    /// - Parameter sequence: For example one that tells when the network is reachable.
    /// - Throws: What the sequence throws.
    public func wakeUp<Wake: AsyncSequence>(on sequence: Wake) async throws(Wake.Failure) {
        for try await _ in sequence { wakeUp() }
    }
}

extension RetryCoordinator {
    /// Runs an operation, and again after each wait here, until it succeeds.
    ///
    /// The caller sees nothing of the trouble but the time it takes.
    ///
    /// - Parameters:
    ///   - name: Told to the readers of ``failures``. Need not be unique.
    ///   - operation: Runs where the caller runs. Called for one attempt at a time.
    /// - Returns: What the first attempt that succeeded returned.
    /// - Throws: An error that is not waited out, as it was. `CancellationError` after ``cancel()``, or at
    ///   once when the task is cancelled while it waits.
    public nonisolated(nonsending) func run<Output>(
        _ name: String = "",
        operation: nonisolated(nonsending) (RetryAttempt) async throws -> Output
    ) async throws -> Output {
        try Task.checkCancellation()
        var member: RetryIncident.MemberID?
        defer { if let member { record { $0.operationEnded(member) } } }
        var attempt = RetryAttempt(number: 1, lastError: nil)
        while true {
            let mark = incident.now
            do {
                return try await operation(attempt)
            } catch {
                try Task.checkCancellation()
                guard !(error is CancellationError), isWorthWaiting(error) else { throw error }
                let id = member ?? state.withLock { $0.incident.makeMemberID() }
                member = id
                try await waitForCall(
                    after: FailedOperation(name: name, id: id, attempt: attempt.number, error: error),
                    since: mark)
                attempt = RetryAttempt(number: attempt.number + 1, lastError: error)
            }
        }
    }

    /// Reports the failure and waits until the operation may run again.
    ///
    /// When a reader of ``failures`` gets the failure, the operation already waits. So a call to retry in response to the failure
    /// is not lost.
    private nonisolated(nonsending) func waitForCall(
        after failure: FailedOperation, since mark: RetryIncident.CallMark
    ) async throws {
        let id = failure.id
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mustWait = recordWithState { state in
                    // The cancellation below may have come first; it found nobody to resume.
                    guard !Task.isCancelled else { return nil }
                    state.waiters[id] = continuation
                    failed.enqueue(failure)
                    return state.incident.operationFailed(id, since: mark)
                }
                if !mustWait { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            // That the operation ended is recorded by the run itself.
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}

extension RetryCoordinator {
    /// The waiting tasks to resume and the countdown to stop, after the lock is released.
    /// Neither is done under the lock: the cancellation handler of a waiting task takes the lock too.
    private struct Releases {
        var runAgain: [CheckedContinuation<Void, any Error>] = []
        var fail: [CheckedContinuation<Void, any Error>] = []
        var countdown: Task<Void, Never>?
    }

    /// Feeds one fact to the incident and performs the actions.
    private func record(_ fact: (inout RetryIncident) -> [RetryIncident.Action]) {
        recordWithState { fact(&$0.incident) }
    }

    /// Feeds one fact, together with what belongs to it, and performs the actions.
    ///
    /// - Returns: Whether there was a fact.
    @discardableResult
    private func recordWithState(_ fact: (inout State) -> [RetryIncident.Action]?) -> Bool {
        let releases: Releases? = state.withLock { state in
            guard let actions = fact(&state) else { return nil }
            var releases = Releases()
            for action in actions { perform(action, in: &state, &releases) }
            return releases
        }
        guard let releases else { return false }
        failed.deliver()
        visibilityChanges.deliver()
        releases.countdown?.cancel()
        for waiter in releases.runAgain { waiter.resume() }
        for waiter in releases.fail { waiter.resume(throwing: CancellationError()) }
        return true
    }

    private func perform(
        _ action: RetryIncident.Action, in state: inout State, _ releases: inout Releases
    ) {
        switch action {
        case .show: visibilityChanges.enqueue(true)
        case .hide: visibilityChanges.enqueue(false)
        case .startCountdown(let id, let duration): state.countdown = count(id, down: duration)
        case .stopCountdown: releases.countdown = state.countdown.take()
        case .runAgain(let members):
            releases.runAgain += members.compactMap { state.waiters.removeValue(forKey: $0) }
        case .fail(let members):
            releases.fail += members.compactMap { state.waiters.removeValue(forKey: $0) }
        }
    }

    /// The task does not keep the coordinator alive: it ends when the countdown is stopped or nobody is left
    /// who could be waiting.
    private func count(_ id: RetryIncident.CountdownID, down duration: Duration) -> Task<Void, Never> {
        Task { [weak self, clock] in
            try? await clock.sleep(for: duration)
            guard !Task.isCancelled else { return }
            self?.record { $0.countdownEnded(id) }
        }
    }
}

/// One failure that a coordinator's operation waits out.
public struct FailedOperation: Sendable {
    /// What the caller named the operation.
    public let name: String
    /// Which operation, where several have the same name.
    public let id: RetryIncident.MemberID
    /// Attempts of this operation so far, this one included.
    public let attempt: Int
    /// What the attempt threw.
    public let error: any Error
}
