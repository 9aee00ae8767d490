/// Has newer PUTs take the places of older ones, as `LatestPuts` finds them.
struct PutCoalescing {
    let id: EntryID
    let now: Timestamp

    /// The request may be superseded by a newer one from now on.
    ///
    /// - Parameter supersedes: Whether it may take the places of older ones now.
    func joined(supersedes: Bool, _ schedule: inout Schedule) {
        if let entry = schedule.entries[id] { joined(entry, supersedes: supersedes, &schedule) }
    }

    func joined(_ entry: Entry, supersedes: Bool, _ schedule: inout Schedule) {
        if entry.method != "PUT", let lane = entry.lane { schedule.lanes.noteOther(lane, sequence: entry.sequence) }
        schedule.puts.add(entry)
        if supersedes { takePlaces(&schedule) } else if entry.isBodyReplayable { schedule.puts.forgetOlder(than: entry) }
    }

    /// A PUT takes the places of those to its URL before it, once it is there whole.
    func takePlaces(_ schedule: inout Schedule) {
        // mutant: half-put
        guard let entry = schedule.entries[id], entry.isBodyReplayable, entry.state == .waiting,
            !schedule.dependencies.waits(id)
        else { return }
        for older in schedule.puts.older(than: entry, schedule.lanes) {
            // What cannot be passed over keeps all that are behind it.
            guard let superseded = schedule.entries[older], superseded.state == .waiting || superseded.state == .held,
                superseded.isNeverSent, !superseded.isBeingStored, !schedule.dependencies.hasChildren(older),
                superseded.ticket == nil || entry.ticket != nil
            else { break }
            schedule.entries[older]?.supersededBy = id
            schedule.end(older, as: .cancelled, .superseded(by: id), now: now)
        }
        schedule.puts.forgetOlder(than: entry)
    }
}
