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
    struct State {
        var incident: RetryIncident
        var waiters: [RetryIncident.MemberID: CheckedContinuation<Void, any Error>] = [:]
        var countdown: Task<Void, Never>?
    }

    let state: Mutex<State>
    let visibilityChanges = Broadcast<Bool>()
    let failed = Broadcast<FailedOperation>()
    let isWorthWaiting: @Sendable (any Error) -> Bool
    let clock: any Clock<Duration>

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
