package import LayoverCore

/// One event, for all watchers.
package struct EngineEvent: Sendable {
    package enum Content: Sendable {
        case entry(EntryEventKind, Entry)
        case incident(IncidentEventKind, Incident)
        case reachability(ReachabilityView)
        case reloaded(ReloadReport)
        /// All that are under way.
        case rehearsals([Rehearsal])
    }

    /// From 1, in order, without a gap, since the start of the process.
    package var number: UInt64
    package var content: Content

    /// The name on the event stream.
    package var name: String {
        switch content {
        case .entry(let kind, _): kind.rawValue
        case .incident(let kind, _): kind.rawValue
        case .reachability: "reachability.changed"
        case .reloaded: "config.reloaded"
        case .rehearsals: "rehearsal.changed"
        }
    }
}
