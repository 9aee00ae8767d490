/// Why an attempt is made.
package enum AttemptTrigger: String, Sendable, Hashable, CaseIterable {
    /// The request has just come in.
    case arrival
    /// It is the one request that tests the way to an origin whose gate is shut.
    case canary
    /// Its delay is over.
    case dueTime
    /// The network or the origin became reachable.
    case reachability
    /// What it had to come after is done: the one before it in its lane, or the ticket that it depends on.
    case predecessor
    /// A person pressed Retry.
    case admin

    /// Whether the attempt counts against `automaticAttemptsMax`.
    package var isAutomatic: Bool { self != .admin }
}
