/// Whether the network is there, as far as anybody can tell without trying.
package enum ReachabilityState: String, Sendable, Hashable, CaseIterable {
    /// Nobody has said anything yet.
    case unknown
    /// There is a link with an address and a default route, or the probe got the answer it expects.
    case online
    /// No link could carry anything, or an admin said so.
    case offline
    /// Somebody else answered the probe.
    case portal
    /// There is a link, but no default route, or the probe got no answer.
    case limited
}
