package import LayoverCore

/// What has happened to entries since the start, for the metrics.
package struct EngineTotals: Sendable {
    package var parkedCount = 0
    package var replayCount = 0
    package var refusedCount = 0
    /// Tickets that were accepted.
    package var acceptedCount = 0
    /// Groups of changes, or requests, that the disk would not take.
    package var storeFailureCount = 0
    /// Incidents that were opened.
    package var incidentCount = 0
    package var endedCounts: [EntryState: Int] = [:]

    mutating func count(_ kind: EntryEventKind, _ entry: Entry) {
        switch kind {
        case .parked: parkedCount += 1
        case .attempted: replayCount += 1
        case .changed: break
        case .ended: endedCounts[entry.state, default: 0] += 1
        }
    }
}
