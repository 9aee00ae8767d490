extension PendingSet {
    /// Sequences up to this one were used in an earlier run.
    package mutating func skipSequences(to last: Int) { sequence = max(sequence, last) }

    /// Whether it is a ticket that nobody holds any more.
    package func isTicketAtRest(_ id: EntryID) -> Bool {
        guard let entry = entries[id] else { return false }
        return entry.ticket != nil && !entry.isBeingStored
    }

    /// Whether it is about to become a ticket.
    package func isBeingStored(_ id: EntryID) -> Bool { entries[id]?.isBeingStored ?? false }

    /// An exchange joins whose first attempt is under way: it is about to become a ticket, and goes on meanwhile.
    package mutating func joinedUnderWay(_ new: NewEntry, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[new.id] == nil else { return }
            set.sequence += 1
            set.join(new, sequence: set.sequence, now: now)
            set.noteForCoalescing(new.id, preconditions: new.preconditions)
            let isBig = set.entries[new.id]?.isBig ?? false
            set.line(of: new.origin) { $0.started(isBig: isBig) }
            set.change(new.id) { entry in
                entry.state = .attempting
                entry.isNeverSent = false
                entry.isBlocked = false
            }
            set.laneStarted(new.id)
            set.announce(new.origin)
        }
    }
}
