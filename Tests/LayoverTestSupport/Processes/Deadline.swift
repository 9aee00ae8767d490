import Foundation

/// The moment by which an event of the real machine must have happened.
package struct Deadline: Sendable {
    private let end: ContinuousClock.Instant

    package init(in limit: Duration) {
        end = ContinuousClock.now + limit
    }

    package var hasPassed: Bool { ContinuousClock.now >= end }

    /// The remaining time for poll(2): never negative, and rounded up so that a wait does not spin near its end.
    package var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { return 0 }
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
