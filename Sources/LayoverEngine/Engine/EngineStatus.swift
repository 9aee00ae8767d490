package import LayoverCore

/// The state of the engine at one moment.
package struct EngineStatus: Sendable {
    package var uptime: Duration
    package var reachability: ReachabilityView
    package var counts: [EntryState: Int]
    package var heldCount: Int
    /// Attempts that go on without a client.
    package var unattendedCount: Int
    package var limits: PendingLimits
    package var totals: EngineTotals
    package var shutOrigins: [Origin]
    package var incidentCount: Int
    package var rehearsalCount: Int
    /// How long the request has waited for a person that has done so longest; nil where none does.
    package var oldestUndecidedAge: Duration?
    /// The last time that the configuration was read anew; nil when it never was.
    package var lastReload: ReloadReport?
}
