/// What a person may change about an entry besides steering it.
extension PendingSet {
    /// Changes the priority, the deadline or the lane of an entry. What is not named stays.
    ///
    /// In its new lane it takes the place that its age gives it. While its attempt is under way it cannot change lanes:
    /// that is a conflict. A deadline in the past ends it at once, but for an attempt in flight.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - priority: 0 (first) to 7 (last); any other number is a conflict.
    ///   - expiresAt: From now on no policy moves it.
    ///   - lane: Nil inside: it leaves its lane and keeps no order any more.
    package mutating func patched(
        _ id: EntryID, revision: Int? = nil, priority: Int? = nil, expiresAt: Timestamp? = nil,
        lane: String?? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (history[id] == nil ? .unknown : .conflict, []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        if let priority, !(0...7).contains(priority) { return (.conflict, []) }
        let movesLane = lane.map { $0 != entry.lane } ?? false
        if movesLane, entry.state == .attempting { return (.conflict, []) }
        let actions = gather(now: now) { set in
            set.change(id) { entry in
                if let priority {
                    entry.priority = priority
                    entry.hasOwnPriority = true
                }
                if let expiresAt {
                    entry.expiresAt = expiresAt
                    entry.hasOwnDeadline = true
                }
            }
            if let lane, movesLane { set.move(id, to: lane, now: now) }
            if priority != nil { set.takeTurnAnew(id) }
            set.touchIncident(entry.incident, now: now)
            set.toDispatch.insert(entry.origin)
            guard expiresAt != nil else { return }
            set.watchDeadlines(id, now: now)
            set.expire(id, now: now)
        }
        return (.done, actions)
    }

    private mutating func move(_ id: EntryID, to lane: String?, now: Timestamp) {
        guard let entry = entries[id] else { return }
        entries[id]?.lane = lane
        entries[id]?.isLinedUp = false
        // What counted as in between was said of its old lane.
        if lastPuts[entry.url]?.contains(where: { $0.id == id }) == true { lastPuts[entry.url] = nil }
        leaveLane(id, entry.lane, now: now)
        joinLane(id, now: now)
        if let lane, entry.method != "PUT" {
            let last = lanes[lane]?.lastOtherSequence ?? 0
            lanes[lane]?.lastOtherSequence = max(last, entry.sequence)
        }
        guard let moved = entries[id], moved.state == .waiting else { return }
        if blocker(of: moved) == nil { unblock(id, now: now) } else { block(id, askedFor: moved.eligibleBy == .admin) }
    }

    /// Its number in the line of its origin has changed.
    private mutating func takeTurnAnew(_ id: EntryID) {
        guard let trigger = entries[id]?.eligibleBy, trigger != .admin else { return }
        entries[id]?.eligibleBy = nil
        makeEligible(id, by: trigger)
    }
}
