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
    /// A person pressed Retry.
    case admin

    /// Whether the attempt counts against `automaticAttemptsMax`.
    package var isAutomatic: Bool { self != .admin }
}
