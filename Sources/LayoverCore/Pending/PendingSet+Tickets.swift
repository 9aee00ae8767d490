/// Tickets: requests that are kept in the store, which has them before any client is told of them.
extension PendingSet {
    /// Asks for room for a ticket. What is granted is taken by `accepted` or given back by `notAccepted`.
    ///
    /// - Returns: The sequence of the new ticket, or the limit that forbids it.
    package mutating func admitTicket() -> TicketAdmission { admission.admitTicket(schedule) }

    /// An admitted ticket is on disk.
    ///
    /// - Parameter isOrphan: Whether a ticket that it depends on has ended without being delivered.
    package mutating func accepted(
        _ new: NewEntry, sequence: Int, isOrphan: Bool = false, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            set.admission.decided()
            guard set.entries[new.id] == nil else { return }
            let entry = set.admission.entry(new, sequence: sequence, now: now)
            let isDependable = set.schedule.join(entry, now: now)
            if set.schedule.shutGate(before: entry) != nil {
                set.schedule.joinIncident(.outage, new.id, now: now)
            }
            if isOrphan || !isDependable {
                set.schedule.parentFailed(of: new.id, now: now)
            } else {
                PutCoalescing(id: new.id, now: now).joined(supersedes: true, &set.schedule)
                set.schedule.admitFresh(new.id, now: now)
            }
        }
    }

    /// An admitted ticket could not be stored, or was there before.
    package mutating func notAccepted() { admission.decided() }

    // MARK: From hold to ticket

    /// An entry whose client waits on its connection is to become a ticket. Nothing is done with it until that is
    /// on disk; an attempt under way goes on.
    ///
    /// - Parameter counts: Those of its exchange, the attempt under way included; nil: there is none.
    /// - Returns: The record to store; nil if the entry is gone, or is one already.
    package mutating func willStore(
        _ id: EntryID, as ticket: TicketFacts, counts: AttemptCounts? = nil, now: Timestamp
    ) -> TicketRecord? {
        guard let entry = entries[id], entry.ticket == nil else { return nil }
        schedule.becameAttended(id, now: now)
        schedule.entries[id]?.ticket = ticket
        schedule.entries[id]?.owner = .clientUntilStored
        if entry.state == .waiting { schedule.block(id, isAskedFor: entry.eligibleBy == .admin) }
        // Whether they were all delivered is looked at when it is on disk.
        _ = schedule.joinParents(id)
        var record = record(of: id)
        record?.expiresAt = entry.ticketDeadline
        if let counts { record?.counts = counts }
        return record
    }

    /// It is on disk: from now on the store keeps it.
    package mutating func stored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.stored(id, now: now) }
    }

    /// It could not be stored: its client goes on holding it.
    package mutating func notStored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.notStored(id, now: now) }
    }

    /// Its client cannot be given a ticket after all.
    package mutating func declinesTicket(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.staysHeld(id, now: now) }
    }

    /// The client of an entry has left, and the entry cannot go on without it. It ends with the attempt under way, or at once.
    package mutating func notAdopted(_ id: EntryID, _ obstacle: AdoptionObstacle) {
        schedule.entries[id]?.adoptionObstacle = obstacle
        if case .client = entries[id]?.owner { schedule.entries[id]?.owner = .client(.none) }
    }

    /// The end of a ticket is on disk: its row has the URL, and memory needs only the beginning of it.
    package mutating func urlIsStored(of id: EntryID) { schedule.history.urlIsStored(of: id) }

    /// Whether `urlIsStored(of:)` cuts that URL.
    package static func cutsURL(_ url: String) -> Bool { url.utf8.count > EntryHistory.ticketURLByteCountMax }

    // MARK: After a restart

    /// Sequences up to this one were used in an earlier run.
    package mutating func skipSequences(to last: Int) { admission.skipSequences(to: last) }

    /// The store of an earlier run is not open yet: entries with a lane wait until `restoringEnded`.
    package mutating func lanesAreUnknown() { schedule.areLanesUnknown = true }

    /// Portions of tickets of an earlier run are about to come: nothing starts until `restoringEnded`.
    package mutating func restoringBegan() { schedule.isRestoring = true }

    package mutating func restoringEnded(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            set.schedule.isRestoring = false
            set.schedule.lanesBecameKnown(now: now)
            set.schedule.restarted()
            set.schedule.toDispatch.formUnion(set.schedule.origins.states.keys)
        }
    }

    /// Tickets of an earlier run, in the order of their sequence, all at once or in portions. What was under way then
    /// may have been applied.
    ///
    /// - Parameter ended: How tickets ended that are not live any more and that some of these depend on; one that is
    ///   not named was not delivered.
    package mutating func restored(
        _ records: [(record: TicketRecord, policy: Policy)], ended: [EntryID: EntryState], parentProxyGates: [EntryID: Origin] = [:],
        now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            let tickets = RestoredTickets(records: records, ended: ended, parentProxyGates: parentProxyGates, now: now)
            tickets.join(&set.schedule, &set.admission)
        }
    }
}
