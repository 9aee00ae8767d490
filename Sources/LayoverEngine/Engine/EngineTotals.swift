package import LayoverCore

/// What has happened to entries since the start, for the metrics.
package struct EngineTotals: Sendable {
    package var parkedCount = 0
    package var replayCount = 0
    /// Requests that were not parked, by the limit.
    package var refusedCounts: [String: Int] = [:]
    package var refusedCount: Int { refusedCounts.values.reduce(0, +) }
    /// Responses whose status is retried and that were delivered all the same, by the rule.
    package var deliveredCounts: [Verdict.DeliverReason: Int] = [:]
    /// Commands that were carried out, each for one entry.
    package var commandCounts: [EntryCommand: Int] = [:]
    /// How long entries were in the set, by their final state.
    package var lives: [EntryState: Histogram] = [:]
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
        case .ended:
            endedCounts[entry.state, default: 0] += 1
            if let endedAt = entry.endedAt { lives[entry.state, default: Histogram()].add((endedAt - entry.parkedAt).inSeconds) }
        }
    }
}
