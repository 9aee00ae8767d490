// A schedule as it is written where one is expected: `schedule: .constant(.seconds(3))`.
extension DelaySchedule {
    /// Never waits.
    public static let immediate = DelaySchedule(.immediate)

    /// The same delay every time.
    ///
    /// - Parameters:
    ///   - delay: A negative one counts as zero.
    ///   - jitter: Default: none.
    public static func constant(_ delay: Duration, jitter: Jitter = .none) -> DelaySchedule {
        DelaySchedule(.constant(delay), jitter: jitter)
    }

    /// A delay that grows with every attempt.
    ///
    /// ```swift
    /// let policy = RetryPolicy(attemptCountMax: 5, schedule: .exponential(initial: .seconds(1)))  // 1 s, 2 s, 4 s, 8 s
    /// ```
    ///
    /// - Parameters:
    ///   - initial: The delay after the first attempt.
    ///   - multiplier: What each delay is times the one before; 1 or less leaves it as it is. Default: 2.
    ///   - max: The longest delay. Default: 30 s.
    ///   - jitter: Default: none. Where many clients use one server, `.full` spreads their attempts.
    public static func exponential(
        initial: Duration, multiplier: Double = 2, max: Duration = .seconds(30), jitter: Jitter = .none
    ) -> DelaySchedule {
        DelaySchedule(.exponential(initial: initial, multiplier: multiplier, max: max), jitter: jitter)
    }

    /// The listed delays in turn; the last one again once the list is used up.
    ///
    /// - Parameters:
    ///   - delays: An empty list never waits; a negative delay counts as zero.
    ///   - jitter: Default: none.
    public static func list(_ delays: [Duration], jitter: Jitter = .none) -> DelaySchedule {
        DelaySchedule(.list(delays), jitter: jitter)
    }
}
