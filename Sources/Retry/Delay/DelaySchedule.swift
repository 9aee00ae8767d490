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
