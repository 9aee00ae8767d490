/// What an entry has to come after: its lane, and the tickets that it depends on.
///
/// An entry is *free* when nothing of that kind keeps it. Only free entries are ever eligible; the others wait
/// outside of all heaps, marked as blocked, until what they wait for is done.
extension PendingSet {
    /// What keeps an entry from its turn; nil when it is free.
    func blocker(of entry: Entry) -> WaitReason? {
        if entry.isBeingStored { return .turn }
        // mutant: no-parents
        if parentsLeft[entry.id] != nil { return .parent }
        // mutant: no-lanes
        guard let lane = entry.lane, let line = lanes[lane] else { return nil }
        if let underWay = line.underWay, underWay != entry.id { return .lane }
        return line.front == entry.id ? nil : .lane
    }

    /// Takes note that an entry cannot go before others.
    mutating func block(_ id: EntryID, askedFor: Bool) {
        guard entries[id] != nil else { return }
        entries[id]?.isBlocked = true
        if askedFor { entries[id]?.isWanted = true }
        entries[id]?.placement += 1
        entries[id]?.eligibleBy = nil
    }

    /// Looks whether a blocked entry may go now.
    mutating func unblock(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isBlocked, entry.state == .waiting, blocker(of: entry) == nil
        else { return }
        entries[id]?.isBlocked = false
        entries[id]?.isWanted = false
        let isShut = lines[entry.origin]?.gate.isShut ?? false
        if entry.isWanted {
            makeEligible(id, by: .admin)
        } else if !isShut, entry.dueAt <= now || entry.waitsForOrigin && entry.isWokenByReachability {
            // If it waited for its origin, that came back while others were before it.
            makeEligible(id, by: .predecessor)
        } else {
            place(id, now: now)
        }
        toDispatch.insert(entry.origin)
    }

    /// Makes an entry that waits undecided.
    mutating func ask(_ id: EntryID, _ why: UndecidedReason, now: Timestamp) {
        guard let entry = entries[id] else { return }
        giveGrantBack(id, wasMade: false)
        change(id) { entry in
            entry.state = .undecided
            entry.why = why
            entry.placement += 1
            entry.eligibleBy = nil
            entry.isBlocked = false
            entry.isWanted = false
            // Whoever is asked anew has to say it anew.
            if why == .maybeApplied { entry.isForced = false }
        }
        leaveIncident(of: id, now: now)
        laneChanged(entry.lane, now: now)
    }
}
