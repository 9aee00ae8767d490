/// What a person changes of an entry. What is not named stays.
package struct EntryPatch: Sendable, Hashable {
    /// 0 (first) to 7 (last); any other number is a conflict.
    package var priority: Int?
    /// From now on no policy moves it. In the past it ends the entry at once, but for an attempt in flight.
    package var expiresAt: Timestamp?
    /// Nil inside: it leaves its lane and keeps no order any more. In its new lane it takes the place that its age gives it.
    package var lane: String??

    package init(priority: Int? = nil, expiresAt: Timestamp? = nil, lane: String?? = nil) {
        self.priority = priority
        self.expiresAt = expiresAt
        self.lane = lane
    }

    private func movesLane(_ entry: Entry) -> Bool { lane.map { $0 != entry.lane } ?? false }

    /// Whether the entry takes it now: while an attempt is under way the lane stays.
    func fits(_ entry: Entry) -> Bool {
        // Its time, and its place, have a limit of their own.
        guard !entry.isUnattended else { return false }
        return priority.map((0...7).contains) ?? true && !(movesLane(entry) && entry.state == .attempting)
    }

    func apply(to entry: Entry, _ set: inout PendingSet, now: Timestamp) {
        let id = entry.id
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
        if let lane, movesLane(entry) { set.changeLane(of: entry, to: lane, now: now) }
        // Its place among those that may go is another one now.
        if priority != nil, let trigger = set.entries[id]?.eligibleBy, trigger != .admin {
            set.makeEligibleAgain(id, by: trigger)
        }
        set.touchIncident(of: entry.id, now: now)
        set.dispatchLater(entry.origin)
        guard expiresAt != nil else { return }
        set.watchDeadlines(of: id, now: now)
        set.expire(id, now: now)
    }
}
