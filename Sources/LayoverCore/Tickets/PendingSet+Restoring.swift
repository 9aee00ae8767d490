/// What an earlier run left.
extension PendingSet {
    /// Portions of tickets of an earlier run are about to come: nothing starts until `restoringEnded`.
    package mutating func restoringBegan() { isRestoring = true }

    package mutating func restoringEnded(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            set.isRestoring = false
            set.toDispatch.formUnion(set.lines.keys)
        }
    }

    /// Tickets of an earlier run, in the order of their sequence, all at once or in portions. What was under way then
    /// may have been applied.
    ///
    /// - Parameter ended: How tickets ended that are not live any more and that some of these depend on; one that is
    ///   not named was not delivered.
    package mutating func restored(
        _ records: [(record: TicketRecord, policy: Policy)], ended: [EntryID: EntryState], now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            set.entries.reserveCapacity(set.entries.count + records.count)
            // First all of them, then what they are to each other, and only then who goes.
            for (record, policy) in records { set.restore(record, policy, now: now) }
            for (record, _) in records { set.stopIfRisky(record.id, now: now) }
            for (record, _) in records { set.restoreParents(of: record, ended: ended, now: now) }
            // mutant: incident-forgotten
            for (record, _) in records { set.rejoinIncident(record.id, now: now, using: &generator) }
            for (record, _) in records { set.settleRestored(record, now: now) }
        }
    }

    private mutating func restore(_ record: TicketRecord, _ policy: Policy, now: Timestamp) {
        guard entries[record.id] == nil else { return }
        sequence = max(sequence, record.sequence)
        var entry = Entry(record, policy: policies.shared(policy))
        let wasUnderWay = record.state == .attempting
        // mutant: force-made-up
        if wasUnderWay { entry.rescue(wasAskedFor: record.decisions.isAskedFor, now: now) }
        // Held back it goes only when a person asks for it, and nobody has.
        if entry.state == .waiting, entry.isHeldBack, !record.decisions.isAskedFor { entry.state = .held }
        // A million copies of the same words would be a lot of room.
        if let lane = entry.lane, let known = lanes.index(forKey: lane) { entry.lane = lanes[known].key }
        entries[record.id] = entry
        line(of: record.origin) { line in
            line.entryCount += 1
            line.gate.startCarefully()
        }
        lineUp(record.id)
        if let lane = record.lane { lanes[lane]?.entryCount += 1 }
        watchDeadlines(record.id, now: now)
        noteForCoalescing(record.id, preconditions: record.preconditions)
        if wasUnderWay { change(record.id) { _ in } }
    }

    private mutating func restoreParents(
        of record: TicketRecord, ended: [EntryID: EntryState], now: Timestamp
    ) {
        guard !record.parents.isEmpty else { return }
        if !record.decisions.excusedParents.isEmpty { excusedParents[record.id] = record.decisions.excusedParents }
        let isOrphan = record.parents.contains {
            entries[$0] == nil && ended[$0] != .delivered && !isExcused($0, of: record.id)
        }
        let isDependable = joinParents(record.id, ended: ended)
        // One that was under way had its parents, or was sent without them by a person.
        guard isOrphan || !isDependable, record.state == .waiting || record.state == .held else { return }
        parentFailed(of: record.id, now: now)
    }

    private mutating func settleRestored(_ record: TicketRecord, now: Timestamp) {
        let id = record.id
        guard let entry = entries[id] else { return }
        // Portions need not come in the order of the lane: those that depend on others come last.
        // mutant: lane-over-portions
        if let lane = entry.lane, let line = lanes[lane], line.first != line.front { laneChanged(lane, now: now) }
        announce(entry.origin)
        expire(id, now: now)
        guard let entry = entries[id], entry.state == .waiting else { return }
        if record.decisions.isAskedFor, record.state == .waiting {
            makeEligible(id, by: .admin)
        } else if entry.dueAt <= now, entry.hasGoodCredentials(at: now), lines[entry.origin]?.gate.isShut == false {
            makeEligible(id, by: .dueTime)
        } else {
            place(id, now: now)
        }
        toDispatch.insert(entry.origin)
    }
}
