/// Tickets of an earlier run that join the set again.
struct RestoredTickets {
    /// In the order of their sequence, each with its present policy.
    let records: [(record: TicketRecord, policy: Policy)]
    /// How tickets ended that are not live any more and that some of these depend on; one that is not named was not delivered.
    let ended: [EntryID: EntryState]
    /// The parent proxies, by their gates, of those that go through one.
    let parentProxyGates: [EntryID: Origin]
    let now: Timestamp

    func join(
        _ schedule: inout Schedule, _ admission: inout Admission, using generator: inout some RandomNumberGenerator
    ) {
        schedule.entries.reserveCapacity(schedule.entries.count + records.count)
        // First all of them, then what they are to each other, and only then which of them go.
        for (record, policy) in records { insert(record, policy, &schedule, &admission) }
        for (record, _) in records { schedule.stopIfRisky(record.id, now: now) }
        for (record, _) in records { joinParents(record, &schedule) }
        // mutant: incident-forgotten
        for (record, _) in records { rejoinIncident(record.id, &schedule) }
        for (record, _) in records { place(record, &schedule) }
        // Of portions only the last one knows every outage.
        if !schedule.isRestoring { schedule.restarted() }
    }

    private func insert(
        _ record: TicketRecord, _ policy: Policy, _ schedule: inout Schedule, _ admission: inout Admission
    ) {
        guard schedule.entries[record.id] == nil else { return }
        admission.skipSequences(to: record.sequence)
        var entry = Entry(record, policy: admission.shared(policy))
        entry.parentProxyGate = parentProxyGates[record.id]
        let wasUnderWay = record.state == .attempting
        // mutant: force-made-up
        if wasUnderWay { entry.rescue(wasAskedFor: record.isAskedFor, now: now) }
        // Held back it goes only when a person asks for it, and that was not so.
        if entry.state == .waiting, entry.isHeldBack, !record.isAskedFor { entry.fullState = .held }
        entry.lane = entry.lane.map(schedule.lanes.shared)
        schedule.insert(entry, now: now)
        schedule.origins[record.origin].gate.startCarefully()
        if let gate = entry.parentProxyGate { schedule.origins[gate].gate.startCarefully() }
        PutCoalescing(id: record.id, now: now).joined(supersedes: false, &schedule)
        if wasUnderWay { schedule.change(record.id) }
    }

    private func joinParents(_ record: TicketRecord, _ schedule: inout Schedule) {
        guard !record.parents.isEmpty else { return }
        let excused = record.excusedParents
        schedule.dependencies.restoreExcused(excused, of: record.id)
        let isOrphan = record.parents.contains {
            schedule.entries[$0] == nil && ended[$0] != .delivered && !excused.contains($0)
        }
        let isDependable = schedule.joinParents(record.id, ended: ended)
        // One that was under way had its parents, or was sent without them by a person.
        guard isOrphan || !isDependable, record.state == .waiting || record.state == .held else { return }
        schedule.parentFailed(of: record.id, now: now)
    }

    /// A ticket of an earlier run waits on in the outage in which it waited then.
    private func rejoinIncident(_ id: EntryID, _ schedule: inout Schedule) {
        guard let kind = schedule.entries[id]?.lastIncidentKind, let entry = schedule.entries[id] else { return }
        let since = kind == .decision ? entry.lastFailureAt ?? entry.parkedAt : entry.outageBeganAt
        IncidentMembership(id: id, now: now).join(kind, since: since, &schedule)
        if entry.why == .exhausted, entry.isOfOutage, entry.policy.onExhausted == .ask {
            _ = schedule.incidents.exhaust(schedule.entries[id]?.incident)
        }
    }

    private func place(_ record: TicketRecord, _ schedule: inout Schedule) {
        let id = record.id
        // Portions need not come in the order of the lane: those that depend on others come last.
        // mutant: lane-over-portions
        if let lane = schedule.entries[id]?.lane, schedule.lanes.isBehind(lane) { schedule.laneChanged(lane, now: now) }
        Deadlines(id: id, now: now).expire(&schedule)
        guard let entry = schedule.entries[id], entry.state == .waiting else { return }
        if record.isAskedFor, record.state == .waiting {
            schedule.makeEligible(id, by: .admin)
        } else if entry.dueAt <= now, entry.hasGoodCredentials(at: now), schedule.shutGate(before: entry) == nil {
            schedule.makeEligible(id, by: .dueTime)
        } else {
            schedule.place(id, now: now)
        }
    }
}
