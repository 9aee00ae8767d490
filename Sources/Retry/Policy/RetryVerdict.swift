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
