package import LayoverCore

/// The state of the engine at one moment.
package struct EngineStatus: Sendable {
    package var uptime: Duration
    package var reachability: ReachabilityView
    package var counts: [EntryState: Int]
    package var heldCount: Int
    package var limits: PendingLimits
    package var totals: EngineTotals
    package var shutOrigins: [Origin]
}
