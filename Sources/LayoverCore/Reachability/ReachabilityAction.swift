/// What the engine is to do after a fact about the network, in the order given.
package enum ReachabilityAction: Sendable, Hashable {
    /// Report the changed view to all watchers.
    case changed
    /// Use no connection and no name any more that is older than now.
    case networkChanged
    /// Ways may be open that were not: `NetworkMayBeReachable`.
    case wake
    /// Make a probe now. One that is still under way is given up, and its result dropped.
    case probe
}
