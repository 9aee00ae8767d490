/// What an admin said about the network.
package enum ReachabilityMode: String, Sendable, Hashable, CaseIterable {
    /// Believe the evidence.
    case auto
    /// Ignore the verdict about the network; gates work as ever.
    case online
    /// Send nothing.
    case offline
}
