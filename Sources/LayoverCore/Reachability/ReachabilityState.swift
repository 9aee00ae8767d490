/// Whether the network is there, as far as can be known without an attempt.
package enum ReachabilityState: String, Sendable, Hashable, CaseIterable {
    /// There is no evidence yet.
    case unknown
    /// There is a link with an address and a default route, or the probe got the response it expects.
    case online
    /// No link could carry anything, or an admin said so.
    case offline
    /// Another server answered the probe.
    case portal
    /// There is a link, but no default route, or the probe got no response.
    case limited
}
