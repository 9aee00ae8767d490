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

/// What follows a failed attempt.
public enum RetryVerdict: Sendable, Hashable {
    /// Another attempt, once this much time has passed or a wake-up came.
    case retry(after: Duration)
    /// The schedule's delay would end at or after the deadline. Another attempt only if a wake-up comes
    /// within this time; without a source of wake-ups there is nothing to wait for.
    case retryIfWoken(within: Duration)
    /// No further attempt.
    case giveUp(Reason)

    /// Why there is no further attempt.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// The predicate says that another attempt cannot help, or the error is a `CancellationError`.
        case notWorthRetrying
        /// All attempts were made.
        case attemptsExhausted
        /// The time was up.
        case deadlineReached
        /// Too many others retry already.
        case budgetExhausted
    }
}

extension RetryPolicy {
    /// Decides what follows a failed attempt, from facts alone. Asks everything but the budget.
    ///
    /// - Parameters:
    ///   - error: What the attempt threw.
    ///   - attempt: Attempts made so far, this one included.
    ///   - elapsed: Time since the first attempt began.
    ///   - generator: Source of jitter. Tests pass a seeded one.
    public func verdict(
        on error: any Error, afterAttempt attempt: Int, elapsed: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> RetryVerdict {
        guard !(error is CancellationError), isWorthRetrying(error) else {
            return .giveUp(.notWorthRetrying)
        }
        if let attemptCountMax, attempt >= attemptCountMax { return .giveUp(.attemptsExhausted) }
        let delay = min(Self.delayMax, schedule.delay(afterAttempt: attempt, using: &generator))
        guard let deadline else { return .retry(after: delay) }
        guard elapsed < deadline else { return .giveUp(.deadlineReached) }
        let left = min(Self.delayMax, deadline - elapsed)
        return delay < left ? .retry(after: delay) : .retryIfWoken(within: left)
    }

    /// A hundred years. A longer wait is no different to anybody, and would overflow the instants of some
    /// clocks, which count nanoseconds in 64 bits.
    private static let delayMax = Duration.seconds(100 * 365 * 24 * 3600)
}

/// One try at an operation.
public struct RetryAttempt: Sendable {
    /// 1 for the first attempt.
    public let number: Int

    /// What the attempt before this one threw. Nil for the first.
    public let lastError: (any Error)?

    /// Whether the operation was tried before.
    public var isRetry: Bool { number > 1 }

    init(number: Int, lastError: (any Error)?) {
        self.number = number
        self.lastError = lastError
    }
}
