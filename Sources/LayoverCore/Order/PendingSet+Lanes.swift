/// Lanes: strict order within, independence between.
///
/// The first of a lane that has not ended, and is not passed over, is its *front*; nobody else of the lane may go.
/// A front that is held, or undecided where the policy does not say `skip`, keeps the others waiting.
extension PendingSet {
    mutating func joinLane(_ id: EntryID, now: Timestamp) {
        lineUp(id)
        if let lane = entries[id]?.lane { lanes[lane]?.entryCount += 1 }
        laneChanged(entries[id]?.lane, now: now)
    }

    /// Its turn is to come; again, if it was passed over.
    mutating func lineUp(_ id: EntryID) {
        guard let entry = entries[id], let lane = entry.lane, !entry.isLinedUp else { return }
        entries[id]?.isLinedUp = true
        lanes[lane, default: LaneLine()].append(id, sequence: entry.sequence)
    }

    /// Finds who is first in a lane now, and sets it free.
    mutating func laneChanged(_ lane: String?, now: Timestamp) {
        guard let lane, var first = lanes[lane]?.first else { return }
        while isPassed(first, in: lane) {
            lanes[lane]?.dropFirst()
            if entries[first]?.lane == lane { entries[first]?.isLinedUp = false }
            guard let next = lanes[lane]?.first else {
                lanes[lane]?.front = nil
                return
            }
            first = next
        }
        lanes[lane]?.front = first
        unblock(first, now: now)
    }

    /// Whether the others of a lane go on without an entry: it has left, or it is skipped.
    private func isPassed(_ id: EntryID, in lane: String) -> Bool {
        guard let entry = entries[id], entry.lane == lane else { return true }
        return entry.state == .undecided && entry.policy.undecidedInLane == .skip
    }

    /// The attempt of an entry began.
    mutating func laneStarted(_ id: EntryID) {
        if let lane = entries[id]?.lane { lanes[lane]?.underWay = id }
    }

    /// The attempt of an entry ended.
    mutating func laneStopped(_ id: EntryID, in lane: String?, now: Timestamp) {
        guard let lane else { return }
        if lanes[lane]?.underWay == id { lanes[lane]?.underWay = nil }
        laneChanged(lane, now: now)
    }

    /// An entry is not of a lane any more: it has ended, or was moved.
    mutating func leaveLane(_ id: EntryID, _ lane: String?, now: Timestamp) {
        guard let lane else { return }
        lanes[lane]?.entryCount -= 1
        if lanes[lane]?.entryCount == 0 { lanes[lane] = nil }
        let entries = entries
        lanes[lane]?.dropStale { entries[$0]?.lane != lane }
        laneStopped(id, in: lane, now: now)
    }
}
