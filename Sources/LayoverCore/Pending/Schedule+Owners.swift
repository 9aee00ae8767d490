extension Entry {
    /// An entry that had others who waited lives no longer than `lifetime`.
    fileprivate mutating func goesOnUnattended(for limit: Duration, from now: Timestamp) {
        expiresAt = min(now + limit, parkedAt + policy.lifetime)
    }
}

/// Who keeps an entry, and until when: a client on its connection, the store, or nobody, so that only the outcome of its attempt is wanted.
extension Schedule {
    // MARK: Deadlines

    /// Sees to it that the entry ends in time, and that nothing is sent whose credentials are past theirs.
    mutating func watchDeadlines(of id: EntryID, now: Timestamp) {
        if let entry = entries[id] { watchDeadlines(of: entry, now: now) }
    }

    mutating func watchDeadlines(of entry: Entry, now: Timestamp) {
        timers.add(.expiry(entry.id), at: max(entry.expiresAt, now))
        if let notAfter = entry.ticket?.notAfter { timers.add(.credentials(entry.id), at: max(notAfter, now)) }
    }

    mutating func credentialsExpired(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, !entry.hasGoodCredentials(at: now),
            !entry.isBeingStored, !entry.isAttemptAskedFor
        else { return }
        ask(id, .credentialsExpired, now: now)
        originChanged(entry.origin)
    }

    /// An attempt in flight may go on until the end of `lifetime`; if it fails before, the entry ends then.
    mutating func expire(_ id: EntryID, now: Timestamp) {
        // A reload may have moved the end; its own timer comes up then.
        guard entries.show(id, { $0.expiresAt <= now }) == true, let entry = entries[id] else { return }
        // mutant: unattended-without-end
        if entry.isUnattended { return unattendedIsOver(id, now: now) }
        if let attempt = entry.attempt { return endAttempt(attempt, of: entry, now: now) }
        endOrOfferTicket(id, now: now)
    }

    /// A server that hangs would otherwise hold up a lane for ever.
    private mutating func endAttempt(_ attempt: Entry.Attempt, of entry: Entry, now: Timestamp) {
        let id = entry.id
        // mutant: endless-attempt
        guard entry.lifetimeEnd <= now else { return timers.add(.expiry(id), at: entry.lifetimeEnd) }
        // The client reads the response, so no deadline ends the attempt.
        if attempt.isAnswered, entry.isHeldByClient, !entry.isHeldByNoClient { return }
        // No client reads the response. The abort keeps the part that has come.
        if attempt.isAnswered { return actions.append(.abortAttempt(id, isCommanded: false)) }
        end(id, as: .expired, .expired, now: now)
    }

    /// The time of the entry is over, or the proxy is being stopped: a ticket lives on, and a client that wants one is asked.
    mutating func endOrOfferTicket(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        switch entry.owner {
        case .clientUntilStored, .client(.offered): return
        // A ticket whose own time is over too is of no use to anyone.
        case .client(.ticket) where entry.lifetimeEnd > now:
            entries[id]?.owner = .client(.offered)
            return actions.append(.offerTicket(id))
        case .client, .store, .cache, .nobody, .others: break
        }
        guard entry.state != .attempting else { return }
        if entry.expiresAt <= now {
            end(id, as: .expired, .expired, now: now)
        // mutant: draining
        } else if isDraining, entry.ticket == nil {
            end(id, as: .cancelled, .draining, now: now)
        }
    }

    // MARK: From client to store

    /// It is on disk: from now on the store keeps it.
    mutating func stored(_ id: EntryID, now: Timestamp) {
        guard entries[id]?.isBeingStored == true else { return }
        change(id) { entry in
            entry.owner = .store
            entry.client.isConnected = false
            entry.expiresAt = entry.ticketDeadline
        }
        watchDeadlines(of: id, now: now)
        if !joinParents(id) { parentFailed(of: id, now: now) }
        unblock(id, now: now)
    }

    /// It could not be stored: its client goes on holding it.
    mutating func notStored(_ id: EntryID, now: Timestamp) {
        guard entries[id]?.isBeingStored == true else { return }
        entries[id]?.ticket = nil
        dependencies.remove(id)
        staysHeld(id, now: now)
    }

    /// The entry stays with its client and gets no ticket. It ends now if its time is over or the proxy is being stopped.
    mutating func staysHeld(_ id: EntryID, now: Timestamp) {
        // An unattended entry was to become a ticket for others. It goes on without a client.
        guard let entry = entries[id], entry.ticket == nil, !entry.isUnattended else { return }
        entries[id]?.owner = .client(.none)
        if isDraining || entry.expiresAt <= now { endOrOfferTicket(id, now: now) }
        watchDeadlines(of: id, now: now)
        unblock(id, now: now)
    }

    // MARK: Without a client

    // Attempts that go on although their client is gone.
    //
    // Such an entry waits for nothing and is counted nowhere else: it takes no room at its origin, so that no canary and no replay waits
    // for a server that hangs, it is in no incident, and `limits.entries` and `limits.heldClients` do not know of it. Its lane still
    // waits for it: the order is that of the origin.
    //
    // Others with its `Idempotency-Key` may wait for its outcome: while they do, neither `timeouts.unattended` nor `limits.unattended` ends
    // it, and it counts in `limits.entries` instead.

    /// Entries that are in the set for more than the outcome of an attempt.
    var waitingCount: Int { entries.count - entries.unattendedCount }

    /// A request joins whose first attempt is under way.
    mutating func insertUnattended(_ new: Entry, attempt: Entry.Attempt, now: Timestamp) {
        var entry = new
        entry.fullState = .attempting(attempt)
        entry.isNeverSent = false
        // It was in none, and no other request waited for it.
        entry.lane = nil
        entries[entry.id] = entry
        actions.append(.report(.parked, entry.id))
        beginUnattended(entry.id, now: now)
    }

    /// The client of an entry is gone whose attempt is under way.
    mutating func becameUnattended(_ id: EntryID, for limit: Duration, now: Timestamp) {
        guard let entry = entries[id], case .attempting(var attempt) = entry.fullState, case .client = entry.owner else { return }
        leaveOrigin(entry)
        leaveIncident(id, now: now)
        (attempt.isCanary, attempt.pause) = (false, .none)
        entries[id]?.amend { entry in
            entry.fullState = .attempting(attempt)
            entry.owner = .nobody
            entry.client.isConnected = false
            entry.expiresAt = now + limit
        }
        change(id)
        originChanged(entry.origin)
        beginUnattended(id, now: now)
    }

    private mutating func beginUnattended(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.expiresAt > now else { return unattendedIsOver(id, now: now) }
        watchDeadlines(of: id, now: now)
        unattended.join(id)
        if let oldest = unattended.surplus { unattendedIsOver(oldest, now: now) }
    }

    /// Its time is over, or another needs its place. It ends, unless others with its key wait for its outcome: that is asked first.
    mutating func unattendedIsOver(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        // mutant: others-forgotten
        guard entry.hasIdempotencyKey, now < entry.lifetimeEnd else { return endUnattended(id, now: now) }
        unattended.leave(id)
        entries[id]?.owner = .others
        actions.append(.lookForOthers(id))
    }

    /// The reply to `lookForOthers`. One that others wait for goes on, and is asked about again.
    mutating func foundOthers(_ id: EntryID, doWait: Bool, now: Timestamp) {
        guard let entry = entries[id], entry.isAwaitedByOthers else { return }
        guard doWait else { return endUnattended(id, now: now) }
        // The limit of 0 is for work that is wanted by nobody.
        let limit = entry.policy.unattendedMax
        change(id) { $0.goesOnUnattended(for: limit > .zero ? limit : Policy.standard.unattendedMax, from: now) }
        watchDeadlines(of: id, now: now)
    }

    /// The last one with its key that waited for its outcome has left: its time without a client begins.
    mutating func othersLeft(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isAwaitedByOthers else { return }
        change(id) { entry in
            entry.owner = .nobody
            entry.goesOnUnattended(for: entry.policy.unattendedMax, from: now)
        }
        beginUnattended(id, now: now)
    }

    /// What the attempt proves follows as late evidence.
    private mutating func endUnattended(_ id: EntryID, now: Timestamp) {
        entries[id]?.counts.mayHaveBeenApplied = true
        end(id, as: .cancelled, .unattended, now: now)
    }

    /// It is to become a ticket, which others with its key wait for.
    mutating func becameAttended(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isUnattended else { return }
        unattended.leave(id)
        origins[entry.origin].joined(entry.policy)
        limitCanaryDelay(of: entry.origin, now: now)
        joinParentProxy(entry.parentProxyGate, entry.policy, now: now)
        guard entry.state == .attempting else { return }
        origins[entry.origin].started(entry)
        if let gate = entry.parentProxyGate { origins[gate].started(entry) }
    }
}

/// The entries whose attempts go on without a client, in the order in which their clients left.
struct UnattendedEntries: Sendable {
    private let countMax: Int
    private var members: Set<EntryID> = []
    /// Some of them may have left.
    private var order: [EntryID] = []
    /// What is before this place has left.
    private var first = 0

    init(countMax: Int) { self.countMax = countMax }

    var count: Int { members.count }

    mutating func join(_ id: EntryID) {
        guard members.insert(id).inserted else { return }
        order.append(id)
    }

    mutating func leave(_ id: EntryID) {
        guard members.remove(id) != nil else { return }
        skipGone()
        // Those that left are forgotten once they are most of the list.
        guard order.count > 64 + 2 * members.count else { return }
        order = order[first...].filter(members.contains)
        first = 0
    }

    /// The oldest, where there are more than `limits.unattended` allows.
    // mutant: unattended-over-the-limit
    var surplus: EntryID? { members.count > countMax ? order[first] : nil }

    private mutating func skipGone() { while first < order.count, !members.contains(order[first]) { first += 1 } }
}
