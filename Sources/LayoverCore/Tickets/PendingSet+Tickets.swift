/// Tickets: requests that nobody holds. They are in the store before anybody is told of them.
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
            let isDependable = set.join(new, sequence: sequence, now: now)
            if set.lines[new.origin]?.gate.isShut == true {
                set.joinIncident(new.id, now: now, using: &generator)
            }
            if isOrphan || !isDependable {
                set.parentFailed(of: new.id, now: now)
            } else {
                set.coalesce(new.id, preconditions: new.ticket?.preconditions, now: now)
                set.admitFresh(new.id, now: now)
            }
            set.announce(new.origin)
            set.dispatch(new.origin, now: now)
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
        entries[id]?.ticket = ticket
        entries[id]?.isBeingStored = true
        if entry.state == .waiting { block(id, askedFor: entry.eligibleBy == .admin) }
        // Whether they were all delivered is looked at when it is on disk.
        _ = joinParents(id)
        var record = record(of: id)
        record?.expiresAt = entry.ticketDeadline
        return record
    }

    /// It is on disk: from now on nobody holds it.
    package mutating func stored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.isBeingStored else { return }
            if entry.isHeldByClient { set.heldCount -= 1 }
            set.change(id) { entry in
                entry.isBeingStored = false
                entry.isHeldByClient = false
                entry.ticketWish = .none
                entry.client.isConnected = false
                entry.expiresAt = entry.ticketDeadline
            }
            set.watchDeadlines(id, now: now)
            if !set.joinParents(id) { set.parentFailed(of: id, now: now) }
            set.unblock(id, now: now)
        }
    }

    /// It could not be stored: its client goes on holding it.
    package mutating func notStored(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.isBeingStored else { return }
            set.entries[id]?.isBeingStored = false
            set.entries[id]?.ticket = nil
            set.leaveParents(id)
            set.goesOnHolding(entry, now: now)
        }
    }

    /// Its client cannot be given a ticket after all.
    package mutating func declinesTicket(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.ticket == nil else { return }
            set.goesOnHolding(entry, now: now)
        }
    }

    /// Its client has nothing but its connection. Its time may have run out meanwhile, or the proxy may be stopping.
    private mutating func goesOnHolding(_ entry: Entry, now: Timestamp) {
        entries[entry.id]?.ticketWish = .none
        if isDraining || entry.expiresAt <= now { endOrOfferTicket(entry.id, now: now) }
        guard entries[entry.id] != nil else { return announce(entry.origin) }
        watchDeadlines(entry.id, now: now)
        unblock(entry.id, now: now)
    }

    /// What waits ends, as the proxy is being stopped.
    mutating func endDraining(_ id: EntryID, now: Timestamp) {
        finish(id, as: .cancelled, now: now)
        actions.append(.end(id, .draining))
    }

    // MARK: Deadlines

    /// Sees to it that it ends in time, and that nothing is sent whose credentials are past theirs.
    mutating func watchDeadlines(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        timers.push(.expiry(id), key: max(entry.expiresAt, now))
        guard let notAfter = entry.ticket?.notAfter else { return }
        timers.push(.credentials(id), key: max(notAfter, now))
    }

    mutating func credentialsExpired(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, !entry.hasGoodCredentials(at: now),
            !entry.isBeingStored, !entry.isAttemptAskedFor
        else { return }
        ask(id, .credentialsExpired, now: now)
        announce(entry.origin)
        toDispatch.insert(entry.origin)
    }

    // MARK: Facts

    /// How often the exchange of a ticket was tried.
    package mutating func counted(_ counts: AttemptCounts, of id: EntryID) {
        entries[id]?.ticket?.counts = counts
        entries[id]?.mayHaveBeenApplied = counts.mayHaveBeenApplied
    }

    /// The status of the answer that was kept.
    package mutating func answered(status: Int, of id: EntryID) {
        entries[id]?.ticket?.status = status
    }

    /// An attempt ended before anything was sent: the request cannot be made complete, or must not be sent.
    ///
    /// - Parameter failure: Nil where the last one says it all.
    package mutating func refused(
        _ id: EntryID, why: UndecidedReason, failure: Failure?, records: [AttemptRecord] = [], now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.line(of: entry.origin) { $0.stopped(isBig: entry.isBig) }
            set.entries[id]?.attempts.append(contentsOf: records)
            if let failure {
                set.entries[id]?.lastFailure = failure
                set.entries[id]?.lastFailureAt = now
            }
            set.ask(id, why, now: now)
            set.laneStopped(id, in: entry.lane, now: now)
            set.announce(entry.origin)
            set.dispatch(entry.origin, now: now)
        }
    }
}

extension Entry {
    /// When its time is over once nobody holds it.
    fileprivate var ticketDeadline: Timestamp { hasOwnDeadline ? expiresAt : parkedAt + policy.lifetime }

    /// Whether nothing says that the credentials it carries are past their time.
    ///
    /// Past it only a person can have it sent, who may know better.
    func hasGoodCredentials(at now: Timestamp) -> Bool { ticket?.notAfter.map { now < $0 } ?? true }
}
