/// Tickets of an earlier run that join the set again.
struct RestoredTickets {
    /// In the order of their sequence, each with its present policy.
    let records: [(record: TicketRecord, policy: Policy)]
    /// How tickets ended that are not live any more and that some of these depend on; one that is not named was not delivered.
    let ended: [EntryID: EntryState]
    /// The parent proxies, by their gates, of those that go through one.
    let parentProxyGates: [EntryID: Origin]
    let now: Timestamp

    func join(_ schedule: inout Schedule, _ admission: inout Admission) {
        schedule.entries.reserveCapacity(schedule.entries.count + records.count)
        // The records are read in place. A copy of them would cost a tenth of the time.
        records.withUnsafeBufferPointer { records in
            // All tickets are inserted first. Then those that depend on others are related to them. The last step decides which may start.
            let related = records.indices.filter { !insert(records[$0].record, records[$0].policy, &schedule, &admission) }
            for index in related { schedule.stopIfRisky(records[index].record.id, now: now) }
            for index in related { joinParents(records[index].record, &schedule) }
            // mutant: incident-forgotten
            for index in related { rejoinIncident(records[index].record.id, &schedule) }
            for index in related { place(records[index].record, &schedule) }
        }
        // Of portions only the last one knows every outage.
        if !schedule.isRestoring { schedule.restarted() }
    }

    /// - Returns: Whether that was all: it waits, and what it waits for depends on no other ticket.
    private func insert(
        _ record: TicketRecord, _ policy: Policy, _ schedule: inout Schedule, _ admission: inout Admission
    ) -> Bool {
        guard !schedule.entries.contains(record.id) else { return false }
        admission.skipSequences(to: record.sequence)
        var entry = Entry(record, policy: admission.shared(policy))
        entry.parentProxyGate = parentProxyGates[record.id]
        let wasUnderWay = record.state == .attempting
        // mutant: force-made-up
        if wasUnderWay { entry.rescue(wasAskedFor: record.isAskedFor, now: now) }
        // Held back it goes only when a person asks for it, and that was not so.
        if entry.state == .waiting, entry.isHeldBack, !record.isAskedFor { entry.fullState = .held }
        entry.lane = entry.lane.map(schedule.lanes.shared)
        let isAlone =
            entry.state == .waiting && entry.lane == nil && record.parents.isEmpty && !entry.isRisky && entry.expiresAt > now
            && entry.hasGoodCredentials(at: now)
        if isAlone {
            // mutant: incident-forgotten.2
            let since = entry.isOfOutage ? entry.outageBeganAt : nil
            schedule.joinOutage(&entry, since: since, now: now)
            schedule.insert(entry, turn(of: entry, record, schedule), now: now)
        } else {
            schedule.insert(entry, now: now)
        }
        schedule.origins[record.origin].gate.startCarefully()
        if let gate = entry.parentProxyGate { schedule.origins[gate].gate.startCarefully() }
        PutCoalescing(id: record.id, now: now).joined(entry, supersedes: false, &schedule)
        if wasUnderWay { schedule.change(record.id) }
        return isAlone
    }

    /// What a ticket waits for that comes after no other.
    private func turn(of entry: Entry, _ record: TicketRecord, _ schedule: Schedule) -> Entry.Turn {
        if record.isAskedFor, record.state == .waiting { return .eligible(.admin) }
        let isDue = entry.dueAt <= now && entry.hasGoodCredentials(at: now) && schedule.shutGate(before: entry) == nil
        return isDue ? .eligible(.dueTime) : .due
    }

    private func joinParents(_ record: TicketRecord, _ schedule: inout Schedule) {
        guard !record.parents.isEmpty else { return }
        let excused = record.excusedParents
        schedule.dependencies.restoreExcused(excused, of: record.id)
        let isOrphan = record.parents.contains {
            schedule.entries[$0] == nil && ended[$0] != .delivered && !excused.contains($0)
        }
        let isDependable = schedule.joinParents(record.id, ended: ended)
        // If an attempt was under way, the parents were delivered, or a person had the ticket sent without them.
        guard isOrphan || !isDependable, record.state == .waiting || record.state == .held else { return }
        schedule.parentFailed(of: record.id, now: now)
    }

    /// A ticket of an earlier run waits on in the outage in which it waited then.
    private func rejoinIncident(_ id: EntryID, _ schedule: inout Schedule) {
        let last = schedule.entries.show(id) { $0.lastIncidentKind } ?? nil
        guard let kind = last, let entry = schedule.entries[id] else { return }
        let since = kind == .decision ? entry.lastFailureAt ?? entry.parkedAt : entry.outageBeganAt
        schedule.joinIncident(kind, id, since: since, now: now)
        if entry.why == .exhausted, entry.isOfOutage, entry.policy.onExhausted == .ask {
            _ = schedule.incidents.exhaust(schedule.entries[id]?.incident)
        }
    }

    private func place(_ record: TicketRecord, _ schedule: inout Schedule) {
        let id = record.id
        // Portions need not come in the order of the lane: those that depend on others come last.
        // mutant: lane-over-portions
        if let lane = schedule.entries[id]?.lane, schedule.lanes.isBehind(lane) { schedule.laneChanged(lane, now: now) }
        schedule.expire(id, now: now)
        guard let entry = schedule.entries[id], entry.state == .waiting else { return }
        switch turn(of: entry, record, schedule) {
        case .eligible(let trigger): schedule.makeEligible(id, by: trigger)
        case .due, .blocked: schedule.place(id, now: now)
        }
    }
}
