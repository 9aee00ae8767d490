/// Tickets of an earlier run are read, all at once or in portions. What was under way then may have been applied.
package struct TicketsRestored: PendingFact {
    let records: [(record: TicketRecord, policy: Policy)]
    let ended: [EntryID: EntryState]
    let parentProxyGates: [EntryID: Origin]

    /// - Parameters:
    ///   - records: In the order of their sequence, each with its present policy.
    ///   - ended: How tickets ended that are not live any more and that some of these depend on. One that is not named was not
    ///     delivered.
    ///   - parentProxyGates: The parent proxies, by their gates, of those that go through one.
    package init(
        _ records: [(record: TicketRecord, policy: Policy)], ended: [EntryID: EntryState], parentProxyGates: [EntryID: Origin] = [:]
    ) {
        self.records = records
        self.ended = ended
        self.parentProxyGates = parentProxyGates
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        TicketRestoration(records: records, ended: ended, parentProxyGates: parentProxyGates, now: now).join(&set)
    }
}

private struct TicketRestoration {
    let records: [(record: TicketRecord, policy: Policy)]
    let ended: [EntryID: EntryState]
    let parentProxyGates: [EntryID: Origin]
    let now: Timestamp

    func join(_ set: inout PendingSet) {
        set.makeRoom(for: records.count)
        // The records are read in place. A copy of them would cost a tenth of the time.
        records.withUnsafeBufferPointer { records in
            // All tickets are inserted first. Then those that depend on others are related to them. The last step decides which may start.
            let related = records.indices.filter { !insert(records[$0].record, records[$0].policy, &set) }
            for index in related { set.stopIfRisky(records[index].record.id, now: now) }
            for index in related { joinParents(records[index].record, &set) }
            // mutant: incident-forgotten
            for index in related { rejoinIncident(records[index].record.id, &set) }
            for index in related { place(records[index].record, &set) }
        }
        // Of portions only the last one knows every outage.
        if !set.isRestoring { set.restarted() }
    }

    /// - Returns: Whether that was all: it waits, and what it waits for depends on no other ticket.
    private func insert(_ record: TicketRecord, _ policy: Policy, _ set: inout PendingSet) -> Bool {
        guard !set.entries.contains(record.id) else { return false }
        var entry = set.entry(of: record, policy)
        entry.parentProxyGate = parentProxyGates[record.id]
        let wasUnderWay = record.state == .attempting
        // mutant: force-made-up
        if wasUnderWay { entry.rescue(wasAskedFor: record.isAskedFor, now: now) }
        // Held back it goes only when a person asks for it, and that was not so.
        if entry.state == .waiting, entry.isHeldBack, !record.isAskedFor { entry.fullState = .held }
        entry.lane = entry.lane.map(set.lanes.shared)
        let isAlone =
            entry.state == .waiting && entry.lane == nil && record.parents.isEmpty && !entry.isRisky && entry.expiresAt > now
            && entry.hasGoodCredentials(at: now)
        if isAlone {
            // mutant: incident-forgotten.2
            let since = entry.isOfOutage ? entry.outageBeganAt : nil
            set.joinOutage(&entry, since: since, now: now)
            set.insert(entry, turn(of: entry, record, set), now: now)
        } else {
            set.insert(entry, now: now)
        }
        set.startCarefully(entry)
        set.notePut(entry, supersedes: false, now: now)
        if wasUnderWay { set.change(record.id) }
        return isAlone
    }

    /// What a ticket waits for that comes after no other.
    private func turn(of entry: Entry, _ record: TicketRecord, _ set: PendingSet) -> Entry.Turn {
        if record.isAskedFor, record.state == .waiting { return .eligible(.admin) }
        let isDue = entry.dueAt <= now && entry.hasGoodCredentials(at: now) && set.origins.shutGate(before: entry) == nil
        return isDue ? .eligible(.dueTime) : .due
    }

    private func joinParents(_ record: TicketRecord, _ set: inout PendingSet) {
        guard !record.parents.isEmpty else { return }
        let excused = record.excusedParents
        let isOrphan = record.parents.contains {
            set.entries[$0] == nil && ended[$0] != .delivered && !excused.contains($0)
        }
        let isDependable = set.joinParents(record.id, ended: ended, excused: excused)
        // If an attempt was under way, the parents were delivered, or a person had the ticket sent without them.
        guard isOrphan || !isDependable, record.state == .waiting || record.state == .held else { return }
        set.parentFailed(of: record.id, now: now)
    }

    /// A ticket of an earlier run waits on in the outage in which it waited then.
    private func rejoinIncident(_ id: EntryID, _ set: inout PendingSet) {
        let last = set.entries.show(id) { $0.lastIncidentKind } ?? nil
        guard let kind = last, let entry = set.entries[id] else { return }
        let since = kind == .decision ? entry.lastFailureAt ?? entry.parkedAt : entry.outageBeganAt
        set.joinIncident(kind, id, since: since, now: now)
        if entry.why == .exhausted, entry.isOfOutage, entry.policy.onExhausted == .ask {
            set.exhaustIncident(of: id)
        }
    }

    private func place(_ record: TicketRecord, _ set: inout PendingSet) {
        let id = record.id
        // Portions need not come in the order of the lane: those that depend on others come last.
        // mutant: lane-over-portions
        if let lane = set.entries[id]?.lane, set.lanes.isBehind(lane) { set.laneChanged(lane, now: now) }
        set.expire(id, now: now)
        guard let entry = set.entries[id], entry.state == .waiting else { return }
        switch turn(of: entry, record, set) {
        case .eligible(let trigger): set.makeEligible(id, by: trigger)
        case .due, .blocked: set.place(id, now: now)
        }
    }
}
