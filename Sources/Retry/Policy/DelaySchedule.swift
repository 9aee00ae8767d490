/// How long to wait between attempts: a pattern and the jitter laid over it.
///
/// The schedule draws no random number of its own; the caller passes a generator, so that a test with
/// a seeded one sees the same delays every time.
///
/// ```swift
/// let schedule = DelaySchedule.exponential(initial: .milliseconds(250), jitter: .full)
/// ```
public struct DelaySchedule: Sendable, Hashable {
    /// The delays before jitter.
    public enum Pattern: Sendable, Hashable {
        /// Never waits.
        case immediate
        /// The same delay every time.
        case constant(Duration)
        /// `initial`, then each time `multiplier` times the one before, at most `max`.
        case exponential(initial: Duration, multiplier: Double, max: Duration)
        /// The listed delays in turn; the last one again once the list is used up. An empty list never waits.
        case list([Duration])
        /// Whatever a function says. ``DelaySchedule/custom(jitter:_:)`` makes one from a closure.
        case custom(CustomDelay)
    }

    /// What chance does to a delay, so that clients that failed together do not come back together.
    public enum Jitter: String, Sendable, Hashable, CaseIterable {
        /// The delay as it is.
        case none
        /// Anything between zero and the delay.
        case full
        /// Half of the delay, plus anything up to the other half.
        case equal
    }

    /// The delays before jitter.
    public var pattern: Pattern
    /// What chance does to them.
    public var jitter: Jitter

    /// Makes a schedule. ``immediate``, ``constant(_:jitter:)``, ``exponential(initial:multiplier:max:jitter:)``,
    /// ``list(_:jitter:)`` and ``custom(jitter:_:)`` are shorter.
    ///
    /// - Parameters:
    ///   - pattern: The delays before jitter.
    ///   - jitter: What chance does to them. Default: none.
    public init(_ pattern: Pattern, jitter: Jitter = .none) {
        self.pattern = pattern
        self.jitter = jitter
    }

    /// The wait after the given attempt and before the next one.
    ///
    /// - Parameters:
    ///   - attempt: Number of the attempt that just failed, from 1. Smaller numbers count as 1.
    ///   - generator: Source of jitter. Not used when there is none.
    /// - Returns: Never negative.
    public func delay(
        afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let base = unjittered(afterAttempt: attempt)
        switch jitter {
        case .none: return base
        case .full: return base * Double.random(in: 0...1, using: &generator)
        case .equal: return base / 2 + (base / 2) * Double.random(in: 0...1, using: &generator)
        }
    }

    /// The delay before jitter. Attempts count from 1; the result is never negative.
    public func unjittered(afterAttempt attempt: Int) -> Duration {
        let attempt = max(1, attempt)
        switch pattern {
        case .immediate:
            return .zero
        case .constant(let every):
            return max(.zero, every)
        case .exponential(let initial, let multiplier, let maximum):
            return Self.grown(initial, by: multiplier, times: attempt - 1, atMost: maximum)
        case .list(let delays):
            return delays.isEmpty ? .zero : max(.zero, delays[min(attempt, delays.count) - 1])
        case .custom(let custom):
            return max(.zero, custom.delay(afterAttempt: attempt))
        }
    }

    /// The delay after growth. The function checks for the maximum before it multiplies, so that no number of attempts and no
    /// multiplier can overflow a `Duration`. A multiplier that would shrink the delay leaves the delay unchanged.
    private static func grown(
        _ initial: Duration, by multiplier: Double, times: Int, atMost maximum: Duration
    ) -> Duration {
        guard initial > .zero, maximum > initial else { return max(.zero, min(initial, maximum)) }
        guard multiplier > 1 else { return initial }
        let factor = power(multiplier, times)
        guard factor < maximum / initial else { return maximum }
        return min(maximum, initial * factor)
    }

    /// By squaring; infinite when it is too large to say.
    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var (result, square, exponent) = (1.0, base, exponent)
        while exponent > 0 {
            if exponent & 1 == 1 { result *= square }
            square *= square
            exponent >>= 1
        }
        return result
    }
}

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

    /// A schedule that asks a function.
    ///
    /// ```swift
    /// let evenSeconds = DelaySchedule.custom { attempt in .seconds(2 * attempt) }
    /// ```
    ///
    /// - Parameters:
    ///   - jitter: Laid over what the function says. Default: none.
    ///   - delay: Gets the number of the attempt that just failed, from 1. A negative result counts as zero.
    public static func custom(
        jitter: Jitter = .none, _ delay: @escaping @Sendable (_ attempt: Int) -> Duration
    ) -> DelaySchedule {
        DelaySchedule(.custom(CustomDelay(delay)), jitter: jitter)
    }

    /// Exponential from 250 ms, doubling, at most 30 s, with full jitter.
    ///
    /// A short break is over after the first few tries; after a long one the load on a server that comes
    /// back is spread.
    public static let standard = DelaySchedule.exponential(initial: .milliseconds(250), jitter: .full)
}

extension DelaySchedule {
    /// The delays of a schedule in turn, without end.
    ///
    /// Iterating twice gives the same delays twice, if the generator is a value such as a seeded one.
    public struct Delays<Generator: RandomNumberGenerator>: Sequence, IteratorProtocol {
        private let schedule: DelaySchedule
        private var generator: Generator
        private var attempt = 0

        init(of schedule: DelaySchedule, using generator: Generator) {
            self.schedule = schedule
            self.generator = generator
        }

        /// The wait after one more failed attempt. Never nil, never negative.
        public mutating func next() -> Duration? {
            // An attempt number has no end either; the last one just repeats.
            if attempt < .max { attempt += 1 }
            return schedule.delay(afterAttempt: attempt, using: &generator)
        }
    }

    /// The waits after the first attempt, the second and so on, jitter included, without end.
    ///
    /// ```swift
    /// for delay in schedule.delays(using: SystemRandomNumberGenerator()).prefix(5) { … }
    /// ```
    ///
    /// - Parameter generator: Source of jitter. Copied, so the caller's own does not move on.
    public func delays<Generator: RandomNumberGenerator>(using generator: Generator) -> Delays<Generator> {
        Delays(of: self, using: generator)
    }

    /// The waits before jitter, without end. Draws no random number.
    public var unjitteredDelays: Delays<SystemRandomNumberGenerator> {
        DelaySchedule(pattern).delays(using: SystemRandomNumberGenerator())
    }
}

extension DelaySchedule.Delays: Sendable where Generator: Sendable {}

/// A function that says how long to wait, as a value that can be compared.
///
/// Two closures cannot be compared, but a schedule can: a copy of a `CustomDelay` equals the original, and
/// two made separately differ, even from the same closure. Make it once and keep it where schedules are
/// compared or used as keys.
public struct CustomDelay: Sendable, Hashable {
    /// The identity that equality rests on.
    private final class Function: Sendable {
        let call: @Sendable (_ attempt: Int) -> Duration

        init(_ call: @escaping @Sendable (_ attempt: Int) -> Duration) { self.call = call }
    }

    private let function: Function

    /// Wraps a function.
    ///
    /// - Parameter delay: Gets the number of the attempt that just failed, from 1, and returns the wait
    ///   before the next one. A negative result counts as zero. It must answer the same for the same
    ///   number if the schedule is to be reproducible.
    public init(_ delay: @escaping @Sendable (_ attempt: Int) -> Duration) {
        function = Function(delay)
    }

    /// What the function says, unchanged.
    public func delay(afterAttempt attempt: Int) -> Duration { function.call(attempt) }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.function === rhs.function }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(function)) }
}
