extension Entry {
    /// An entry that had others who waited lives no longer than `lifetime`.
    fileprivate mutating func goesOnUnattended(for limit: Duration, from now: Timestamp) {
        expiresAt = min(now + limit, parkedAt + policy.lifetime)
    }
}

/// Attempts that go on although their client is gone.
///
/// Such an entry waits for nothing and is counted nowhere else: it takes no room at its origin, so that no canary and no replay waits
/// for a server that hangs, it is in no incident, and `limits.entries` and `limits.heldClients` do not know of it. Its lane still
/// waits for it: the order is that of the origin.
///
/// Others with its `Idempotency-Key` may wait for its outcome: while they do, neither `timeouts.unattended` nor `limits.unattended` ends
/// it, and it counts in `limits.entries` instead.
extension Schedule {
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
        guard let entry = entries[id], case .attempting(var attempt) = entry.fullState, case .client = entry.holder else { return }
        leaveOrigin(entry)
        IncidentMembership(id: id, now: now).leave(&self)
        (attempt.isCanary, attempt.pause) = (false, .none)
        entries[id]?.amend { entry in
            entry.fullState = .attempting(attempt)
            entry.holder = .nobody
            entry.client.isConnected = false
            entry.expiresAt = now + limit
        }
        change(id)
        originChanged(entry.origin)
        beginUnattended(id, now: now)
    }

    private mutating func beginUnattended(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.expiresAt > now else { return unattendedIsOver(id, now: now) }
        Deadlines(id: id, now: now).watch(&self)
        unattended.join(id)
        if let oldest = unattended.surplus { unattendedIsOver(oldest, now: now) }
    }

    /// Its time is over, or another needs its place. It ends, unless others with its key wait for its outcome: that is asked first.
    mutating func unattendedIsOver(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        // mutant: others-forgotten
        guard entry.hasIdempotencyKey, now < entry.lifetimeEnd else { return endUnattended(id, now: now) }
        unattended.leave(id)
        entries[id]?.holder = .others
        actions.append(.lookForOthers(id))
    }

    /// The reply to `lookForOthers`. One that others wait for goes on, and is asked about again.
    mutating func foundOthers(_ id: EntryID, doWait: Bool, now: Timestamp) {
        guard let entry = entries[id], entry.isAwaitedByOthers else { return }
        guard doWait else { return endUnattended(id, now: now) }
        // The limit of 0 is for work that is wanted by nobody.
        let limit = entry.policy.unattendedMax
        change(id) { $0.goesOnUnattended(for: limit > .zero ? limit : Policy.standard.unattendedMax, from: now) }
        Deadlines(id: id, now: now).watch(&self)
    }

    /// The last one with its key that waited for its outcome has left: its time without a client begins.
    mutating func othersLeft(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isAwaitedByOthers else { return }
        change(id) { entry in
            entry.holder = .nobody
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
