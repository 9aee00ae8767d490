/// Tickets: requests that are kept in the store, which has them before any client is told of them.
extension PendingSet {
    /// Asks for room for a ticket. What is granted is taken by `accepted` or given back by `notAccepted`.
    ///
    /// - Returns: The sequence of the new ticket, or the limit that forbids it.
    package mutating func admitTicket() -> Admission {
        if isDraining { return .draining }
        if entries.count + acceptingCount >= limits.entryCountMax {
            return .refused(limit: "limits.entries", value: limits.entryCountMax)
        }
        acceptingCount += 1
        sequence += 1
        return .admitted(sequence: sequence)
    }

    package enum Admission: Sendable, Hashable {
        case admitted(sequence: Int)
        case refused(limit: String, value: Int)
        case draining
    }

    /// An admitted ticket is on disk.
    ///
    /// - Parameter isOrphan: Whether a ticket that it depends on has ended without being delivered.
    package mutating func accepted(
        _ new: NewEntry, sequence: Int, isOrphan: Bool = false, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            set.acceptingCount -= 1
            guard set.entries[new.id] == nil else { return }
            let isDependable = set.join(set.entry(new, sequence: sequence, now: now), now: now)
            if set.schedule.origins.isShut(new.origin) {
                set.schedule.joinIncident(new.id, now: now, using: &generator)
            }
            if isOrphan || !isDependable {
                set.schedule.parentFailed(of: new.id, now: now)
            } else {
                set.addPut(new.id, preconditions: new.ticket?.preconditions, supersedes: true, now: now)
                set.schedule.admitFresh(new.id, now: now)
            }
        }
    }

    /// An admitted ticket could not be stored, or was there before.
    package mutating func notAccepted() { acceptingCount -= 1 }

    // MARK: From hold to ticket

    /// An entry whose client waits on its connection is to become a ticket. Nothing is done with it until that is
    /// on disk; an attempt under way goes on.
    ///
    /// - Returns: The record to store; nil if the entry is gone, or is one already.
    package mutating func willStore(_ id: EntryID, as ticket: TicketFacts) -> TicketRecord? {
        guard let entry = entries[id], entry.ticket == nil else { return nil }
        schedule.entries[id]?.ticket = ticket
        schedule.entries[id]?.holder = .clientUntilStored
        if entry.state == .waiting { schedule.block(id, isAskedFor: entry.eligibleBy == .admin) }
        // Whether they were all delivered is looked at when it is on disk.
        _ = schedule.joinParents(id)
        var record = record(of: id)
        record?.expiresAt = entry.ticketDeadline
        return record
    }

    /// It is on disk: from now on the store keeps it.
    package mutating func stored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.isBeingStored(id) else { return }
            set.schedule.change(id) { entry in
                entry.holder = .store
                entry.client.isConnected = false
                entry.expiresAt = entry.ticketDeadline
            }
            set.schedule.watchDeadlines(id, now: now)
            if !set.schedule.joinParents(id) { set.schedule.parentFailed(of: id, now: now) }
            set.schedule.unblock(id, now: now)
        }
    }

    /// It could not be stored: its client goes on holding it.
    package mutating func notStored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.isBeingStored(id) else { return }
            set.schedule.entries[id]?.ticket = nil
            set.schedule.dependencies.remove(id)
            set.staysHeld(id, now: now)
        }
    }

    /// Its client cannot be given a ticket after all.
    package mutating func declinesTicket(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            if let entry = set.entries[id], entry.ticket == nil { set.staysHeld(id, now: now) }
        }
    }

    /// Its client has nothing but its connection. Its time may have run out meanwhile, or the proxy may be stopping.
    private mutating func staysHeld(_ id: EntryID, now: Timestamp) {
        schedule.entries[id]?.holder = .client(.none)
        if let entry = entries[id], isDraining || entry.expiresAt <= now { schedule.endOrOfferTicket(id, now: now) }
        schedule.watchDeadlines(id, now: now)
        schedule.unblock(id, now: now)
    }

    /// The client of an entry has left, and the entry cannot go on without it. It ends with the attempt under way, or at once.
    package mutating func notAdopted(_ id: EntryID, _ obstacle: AdoptionObstacle) {
        schedule.entries[id]?.adoptionObstacle = obstacle
        if case .client = entries[id]?.holder { schedule.entries[id]?.holder = .client(.none) }
    }

    // MARK: After a restart

    /// Sequences up to this one were used in an earlier run.
    package mutating func skipSequences(to last: Int) { sequence = max(sequence, last) }

    /// Portions of tickets of an earlier run are about to come: nothing starts until `restoringEnded`.
    package mutating func restoringBegan() { schedule.isRestoring = true }

    package mutating func restoringEnded(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            set.schedule.isRestoring = false
            set.schedule.toDispatch.formUnion(set.schedule.origins.states.keys)
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
            set.schedule.entries.reserveCapacity(set.entries.count + records.count)
            // First all of them, then what they are to each other, and only then which of them go.
            for (record, policy) in records { set.restore(record, policy, now: now) }
            for (record, _) in records { set.stopIfRisky(record.id, now: now) }
            for (record, _) in records { set.restoreParents(of: record, ended: ended, now: now) }
            // mutant: incident-forgotten
            for (record, _) in records { set.rejoinIncident(record.id, now: now, using: &generator) }
            for (record, _) in records { set.placeRestored(record, now: now) }
        }
    }

    private mutating func restore(_ record: TicketRecord, _ policy: Policy, now: Timestamp) {
        guard !isLive(record.id) else { return }
        skipSequences(to: record.sequence)
        var entry = Entry(record, policy: policies.shared(policy))
        let wasUnderWay = record.state == .attempting
        // mutant: force-made-up
        if wasUnderWay { entry.rescue(wasAskedFor: record.decisions.isAskedFor, now: now) }
        // Held back it goes only when a person asks for it, and that was not so.
        if entry.state == .waiting, entry.isHeldBack, !record.decisions.isAskedFor { entry.fullState = .held }
        entry.lane = entry.lane.map(schedule.lanes.shared)
        schedule.insert(entry, now: now)
        schedule.origins[record.origin].gate.startCarefully()
        addPut(record.id, preconditions: record.preconditions, supersedes: false, now: now)
        if wasUnderWay { schedule.change(record.id) }
    }

    private mutating func restoreParents(
        of record: TicketRecord, ended: [EntryID: EntryState], now: Timestamp
    ) {
        guard !record.parents.isEmpty else { return }
        let excused = record.decisions.excusedParents
        schedule.dependencies.restoreExcused(excused, of: record.id)
        let isOrphan = record.parents.contains { entries[$0] == nil && ended[$0] != .delivered && !excused.contains($0) }
        let isDependable = schedule.joinParents(record.id, ended: ended)
        // One that was under way had its parents, or was sent without them by a person.
        guard isOrphan || !isDependable, record.state == .waiting || record.state == .held else { return }
        schedule.parentFailed(of: record.id, now: now)
    }

    /// A ticket of an earlier run waits on in the outage in which it waited then.
    private mutating func rejoinIncident(
        _ id: EntryID, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = entries[id] else { return }
        // One that was never tried asks because others of its outage did.
        let isOfOutage = entry.lastFailure?.shutsGate ?? (entry.why == .exhausted)
        switch entry.fullState {
        case .waiting where isOfOutage, .held where isOfOutage, .undecided(.exhausted): break
        case .waiting, .held, .undecided, .attempting, .ended: return
        }
        schedule.joinIncident(id, since: entry.outageBeganAt, now: now, using: &generator)
        if entry.why == .exhausted, isOfOutage, entry.policy.onExhausted == .ask {
            _ = schedule.incidents.exhaust(entries[id]?.incident)
        }
    }

    private mutating func placeRestored(_ record: TicketRecord, now: Timestamp) {
        let id = record.id
        guard let entry = entries[id] else { return }
        // Portions need not come in the order of the lane: those that depend on others come last.
        // mutant: lane-over-portions
        if let lane = entry.lane, schedule.lanes.isBehind(lane) { schedule.laneChanged(lane, now: now) }
        schedule.expire(id, now: now)
        guard let entry = entries[id], entry.state == .waiting else { return }
        if record.decisions.isAskedFor, record.state == .waiting {
            schedule.makeEligible(id, by: .admin)
        } else if entry.dueAt <= now, entry.hasGoodCredentials(at: now), !schedule.origins.isShut(entry.origin) {
            schedule.makeEligible(id, by: .dueTime)
        } else {
            schedule.place(id, now: now)
        }
    }
}
