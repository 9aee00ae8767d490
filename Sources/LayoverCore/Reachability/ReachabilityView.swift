/// What people and programs see of reachability.
package struct ReachabilityView: Sendable, Hashable {
    package var mode: ReachabilityMode
    /// What counts: the mode's word where the admin gave one, else what was observed.
    package var state: ReachabilityState
    /// The observed state, whatever the mode.
    package var observed: ReachabilityState
    /// When `state` last changed.
    package var since: Timestamp
    /// The admin's words for the mode.
    package var reason: String?
    /// Why `observed` is what it is, as a sentence; nil when there is nothing to explain.
    package var detail: String?
    /// The links of this machine. Nil: the kernel has not been heard, or may not be asked.
    package var links: LinkSnapshot?
    package var lastProbe: ProbeResult?
    package var lastProbeAt: Timestamp?
    /// When connections and names were last dropped because of a change.
    package var networkChangedAt: Timestamp?
    /// What happens to open tunnels. Nil: the mode is not `offline`.
    package var tunnels: OfflineTunnels?
}
