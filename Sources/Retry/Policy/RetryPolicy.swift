/// The rules for one operation: how often it is tried, how long it waits in between, for which errors, and
/// when it gives up.
///
/// The policy decides and does nothing else: ``verdict(on:afterAttempt:elapsed:using:)`` reads no clock and
/// draws no random number of its own. ``retry(_:clock:wakeOn:using:onExhausted:operation:)`` performs what
/// it says.
///
/// ```swift
/// var policy = RetryPolicy(attemptCountMax: 5, schedule: .constant(.seconds(2)))
/// policy.deadline = .seconds(60)
/// ```
public struct RetryPolicy: Sendable {
    /// Most attempts, the first included. Nil means without end; less than 1 counts as 1. Default: 3.
    public var attemptCountMax: Int?

    /// The wait between attempts. Default: exponential from 250 ms, doubling, at most 30 s, full jitter.
    public var schedule: DelaySchedule

    /// How long after the start another attempt may still begin. No attempt begins at or after the
    /// deadline; one that is under way is let finish. Nil means without end. Default: nil.
    public var deadline: Duration?

    /// Limits how many retries all operations that share the budget make together. Default: nil, no limit.
    public var budget: SharedRetryBudget?

    /// Says whether another attempt can help after this error.
    ///
    /// A `CancellationError` is never retried, whatever this says. Default: every error is worth it.
    public var isWorthRetrying: @Sendable (any Error) -> Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - attemptCountMax: Most attempts, the first included. Nil means without end. Default: 3.
    ///   - schedule: The wait between attempts. Default: ``DelaySchedule/standard``.
    ///   - deadline: How long after the start another attempt may still begin. Default: nil, without end.
    ///   - budget: Shared with other operations. Default: nil, no limit.
    ///   - isWorthRetrying: Says whether another attempt can help. Default: always.
    public init(
        attemptCountMax: Int? = 3,
        schedule: DelaySchedule = .standard,
        deadline: Duration? = nil,
        budget: SharedRetryBudget? = nil,
        isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        self.attemptCountMax = attemptCountMax
        self.schedule = schedule
        self.deadline = deadline
        self.budget = budget
        self.isWorthRetrying = isWorthRetrying
    }

    /// The same rules, but only errors of one type are retried, and of these only the chosen ones.
    ///
    /// ```swift
    /// let policy = RetryPolicy().retrying(ConnectionError.self) { $0 != .refused }
    /// ```
    ///
    /// - Parameters:
    ///   - type: Errors of any other type are thrown at once.
    ///   - isWorthRetrying: Replaces the predicate there was. Default: every error of the type.
    public func retrying<Failure: Error>(
        _ type: Failure.Type,
        where isWorthRetrying: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> RetryPolicy {
        var policy = self
        policy.isWorthRetrying = { error in (error as? Failure).map(isWorthRetrying) ?? false }
        return policy
    }
}

extension DelaySchedule {
    /// Exponential from 250 ms, doubling, at most 30 s, with full jitter.
    ///
    /// A short break is over after the first few tries; after a long one the load on a server that comes
    /// back is spread.
    public static let standard = DelaySchedule.exponential(initial: .milliseconds(250), jitter: .full)
}
