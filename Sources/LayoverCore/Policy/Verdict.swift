/// What the rules say about one failed attempt.
package enum Verdict: Sendable, Hashable {
    /// Make another attempt at once, on a new connection: the old one died between two requests, which
    /// says nothing about the origin.
    case againOnNewConnection
    /// Join the pending set and wait.
    case park(Parking)
    /// Tell the client now.
    case fail(FailReason)

    /// How a parked request waits.
    package struct Parking: Sendable, Hashable {
        /// The wait before the next attempt that nothing else brings about.
        package var delay: Duration
        /// Whether the gate of the origin is to be shut by this failure.
        package var shutsGate: Bool

        package init(delay: Duration, shutsGate: Bool) {
            self.delay = delay
            self.shutsGate = shutsGate
        }
    }

    /// The rule that ended it.
    package enum FailReason: String, Sendable, Hashable, CaseIterable {
        /// Nothing in `retryOn` matches the failure.
        case notInRetryOn
        /// It may have been applied, and it is not repeatable.
        case maybeApplied
        /// Its body cannot be sent again: over `limits.bodyMax`, or broken off by the client.
        case bodyNotReplayable
        /// `automaticAttemptsMax` attempts were made.
        case exhausted
        /// The mode is `pass`.
        case pass
        /// A response had begun, so nothing else can be told to the client.
        case responseBegan
    }
}
