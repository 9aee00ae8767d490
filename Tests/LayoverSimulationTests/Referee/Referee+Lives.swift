@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverTestSupport

/// From one life of the process to the next.
extension Referee {
    /// A new process has taken over what there was.
    ///
    /// - Parameter before: The rows as the last one left them.
    func lifeBegan(_ before: [EntryID: MemoryContent.Row]) {
        (seen, gates, asked, goingAsAsked, forced) = ([:], [:], [], [], [])
        shutAt = [:]
        gone = Set(before.values.filter { $0.record.state.isFinal }.map(\.record.id))
        let pending = simulation.engine.assumeIsolated { $0.pending }
        restored = Set(pending.entries.keys)
        unbidden = restored
        heldBack = Set(pending.entries.values.filter(\.isHeldBack).map(\.id))
        // A retry that a person asked for in that life is still to be made. That nobody made it up is seen when it goes.
        asked = Set(pending.entries.values.filter(\.isAttemptAskedFor).map(\.id))
        for truth in simulation.requests.values { takeOver(truth, pending) }
        for truth in simulation.told { nothingAcceptedIsLost(truth, pending) }
        for row in before.values where row.record.state == .attempting { interruptedTicketsAreRestoredCorrectly(row.record, pending) }
        for row in before.values where !row.record.state.isFinal { ticketsAreRestoredUnchanged(row.record, pending) }
        untriedTicketsAreInTheOutage(pending)
        checkEngine()
    }

    /// After a restart every gate is open. The outage of an origin is known by the tickets that failed, and the others wait in it too.
    private func untriedTicketsAreInTheOutage(_ pending: PendingSet) {
        let outages = pending.incidents.states.values.filter { $0.kind == .outage }
        for entry in pending.entries.values where entry.state == .waiting && entry.incident == nil {
            guard outages.contains(where: { $0.scope == .origin(entry.origin) }) else { continue }
            breach("untriedTicketsAreInTheOutage", name(entry))
        }
    }

    private func takeOver(_ truth: RequestTruth, _ pending: PendingSet) {
        truth.hasSeenDeath = true
        decisionsOfPeopleAreKept(truth, pending)
        // A ticket that waits in the store follows the newest stored decision of a person.
        let entry = truth.ticket.flatMap { pending.entries[$0] }
        if entry?.state == .undecided { truth.forceCount = 0 } else { truth.giveBackForces() }
        truth.unusedForceCount = 0
    }

    private func decisionsOfPeopleAreKept(_ truth: RequestTruth, _ pending: PendingSet) {
        defer { truth.retryTold = nil }
        guard let entry = truth.retryTold.flatMap({ pending.entries[$0] }), entry.state == .waiting || entry.state == .held
        else { return }
        if !entry.isAttemptAskedFor { breach("decisionsOfPeopleAreKept", name(entry)) }
    }

    /// A ticket whose attempt was under way when the process died may have been applied.
    private func interruptedTicketsAreRestoredCorrectly(_ record: TicketRecord, _ pending: PendingSet) {
        guard let entry = pending.entries[record.id], let truth = simulation.truth(of: entry) else { return }
        simulation.count("rescued")
        let isRepeatable = truth.isRepeatable(in: simulation.configuration.routes)
        let isRight =
            switch entry.state {
            case .waiting, .held, .attempting: isRepeatable
            // The ticket may be undecided for other reasons too.
            case .undecided: entry.why != .maybeApplied || !isRepeatable
            case .delivered, .cancelled, .expired, .failed: false
            }
        if !isRight { breach("interruptedTicketsAreRestoredCorrectly", "\(name(entry)), \(isRepeatable ? "" : "not ")repeatable") }
    }

    /// A ticket without an attempt under way is unchanged.
    private func ticketsAreRestoredUnchanged(_ record: TicketRecord, _ pending: PendingSet) {
        guard let entry = pending.entries[record.id] else {
            if record.expiresAt > simulation.time.now() {
                breach("nothingAcceptedIsLost", "\(record.url), \(record.state.rawValue) on disk, was not taken over")
            }
            return
        }
        // Another configuration may say that it must not be sent twice.
        let isRisky = entry.why == .maybeApplied && !isRepeatable(entry)
        if record.state == .undecided, entry.why != record.why, !isRisky {
            breach("ticketsAreRestoredUnchanged", "\(name(entry)) was asked about as \(record.why?.rawValue ?? "-")")
        }
        if record.state == .held, entry.state != .held, entry.state != .undecided {
            breach("ticketsAreRestoredUnchanged", "\(name(entry)) was held")
        }
        if entry.lane != record.lane || entry.sequence != record.sequence || entry.priority != record.priority {
            breach("ticketsAreRestoredUnchanged", "\(name(entry)) is in \(entry.lane ?? "no lane")")
        }
    }

    private func isRepeatable(_ entry: Entry) -> Bool {
        simulation.truth(of: entry)?.isRepeatable(in: simulation.configuration.routes) ?? false
    }

    /// The process stopped in good order. Its open work is stored as the next process must find it.
    func stopped() {
        guard simulation.breaches.isEmpty else { return }
        let pending = simulation.engine.assumeIsolated { $0.pending }
        for truth in simulation.told { nothingAcceptedIsLost(truth, pending) }
        for entry in pending.entries.values where entry.state == .attempting {
            breach("aStopLeavesNothingUnderWay", name(entry))
        }
    }
}
