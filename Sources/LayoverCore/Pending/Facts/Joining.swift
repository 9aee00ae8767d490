import Retry

/// A request asks to join: its attempt failed, or its loop knows the gate to be shut.
package struct ParkRequested: JoiningFact {
    package let new: NewEntry

    package init(_ new: NewEntry) { self.new = new }

    package func apply(to set: inout PendingSet, now: Timestamp, using generator: inout some RandomNumberGenerator) {
        guard set.entries[new.id] == nil else { return }
        if let refusal = refusal(by: set) { return set.addAction(refusal) }
        var entry = set.entry(of: new, now: now)
        // A response in hand is better than none.
        if new.failure?.evidence == .answered, let reason = set.deliverReasonSinceReload(entry, new, now: now) {
            return set.addAction(.deliverResponse(new.id, reason))
        }
        let asker = new.failure?.evidence == .neverSent ? new.attemptParentProxyGate : nil
        if let reason = set.statusRetried(of: &entry, by: new.parking, through: asker, now: now) {
            return set.addAction(.deliverResponse(new.id, reason))
        }
        set.join(entry, after: new.failure, now: now)
        let attempt = new.failure.map { FailureEffects(failure: $0, parking: new.parking, now: now) }
        if attempt?.leavesParentProxy(new.attemptParentProxyGate, for: new.parentProxyGate) == true {
            set.changeParentProxyOutage(new.id, now: now)
        } else {
            set.changeIncident(of: new.id, after: new.parking, now: now)
        }
        set.notePut(new.id, supersedes: new.parking.asks == nil, now: now)
        if let attempt {
            attempt.apply(toNew: entry, through: new.attemptParentProxyGate, in: &set, using: &generator)
            set.rerouteIfStale(new, now: now)
            if set.isPlannedByOlderTable(new) { ExhaustedByReload(parking: new.parking, now: now).apply(to: new.id, &set) }
        } else {
            set.rerouteIfStale(new, now: now)
            if set.entries[new.id]?.state == .waiting { set.admitFresh(new.id, now: now) }
        }
    }

    /// What the exchange is told instead of joining. Nil: it joins.
    private func refusal(by set: PendingSet) -> PendingAction? {
        if set.isDraining { return .end(new.id, .draining) }
        if set.isFull { return .refuse(new.id, limit: "limits.entries", value: set.limits.entryCountMax) }
        if !new.isRefresh, set.heldCount >= set.limits.heldClientCountMax {
            return .refuse(new.id, limit: "limits.heldClients", value: set.limits.heldClientCountMax)
        }
        return nil
    }
}

/// A request joins whose first attempt is under way: it is about to become a ticket, or its client is gone. The attempt goes on.
package struct JoinedDuringAttempt: JoiningFact {
    package let new: NewEntry

    package init(_ new: NewEntry) { self.new = new }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard set.entries[new.id] == nil else { return }
        var entry = set.entry(of: new, now: now)
        let attempt = Entry.Attempt(startedAt: new.request.createdAt, parentProxyGate: new.attemptParentProxyGate)
        if new.unattendedFor == nil {
            set.join(entry, now: now)
            set.notePut(new.id, supersedes: false, now: now)
            set.amend(new.id) { $0.isNeverSent = false }
            set.transition(new.id, to: .attempting(attempt), now: now)
            return set.rerouteIfStale(new, now: now)
        }
        entry.fullState = .attempting(attempt)
        entry.isNeverSent = false
        // The request was in no lane, and no other waited for it.
        entry.lane = nil
        set.joinUnattended(entry)
        set.rerouteIfStale(new, now: now)
        set.beginUnattended(entry.id, now: now)
    }
}

/// A ticket that was admitted is on disk.
package struct NewTicketStored: PendingFact {
    let new: NewEntry
    let sequence: Int
    let isOrphan: Bool

    /// - Parameter isOrphan: Whether a ticket that it depends on has ended without being delivered.
    package init(_ new: NewEntry, sequence: Int, isOrphan: Bool = false) {
        self.new = new
        self.sequence = sequence
        self.isOrphan = isOrphan
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.admissionDecided()
        guard set.entries[new.id] == nil else { return }
        let entry = set.entry(of: new, sequence: sequence, now: now)
        let isDependable = set.join(entry, now: now)
        if set.origins.shutGate(before: entry) != nil {
            set.joinIncident(.outage, new.id, now: now)
        }
        if isOrphan || !isDependable {
            set.parentFailed(of: new.id, now: now)
            set.rerouteIfStale(new, now: now)
        } else {
            set.notePut(new.id, supersedes: true, now: now)
            // A reload may have come while the ticket was on its way to the disk.
            set.rerouteIfStale(new, now: now)
            if set.entries[new.id]?.state == .waiting { set.admitFresh(new.id, now: now) }
        }
    }
}
