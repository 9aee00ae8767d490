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
