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

extension DelaySchedule {
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
}
