/// Something that was learnt about the network as a whole.
package enum ReachabilityFact: Sendable, Hashable {
    /// The kernel's view of links, addresses and default routes, whole. The first one is no change.
    case links(LinkSnapshot)
    /// The content of the resolver's configuration changed.
    case resolverChanged
    /// A probe came to its end.
    case probed(ProbeResult)
    /// The machine slept and woke.
    case resumed
    /// A script or a person says that something changed.
    case hinted
    /// The gate of an origin shut: it cannot be reached.
    case originAway(Origin)
    /// Some origin answered.
    case originBack
    /// An admin set the mode. The words are kept for those who ask later. `tunnels` counts under `offline` only.
    case mode(ReachabilityMode, reason: String?, tunnels: OfflineTunnels = .freeze)
}
