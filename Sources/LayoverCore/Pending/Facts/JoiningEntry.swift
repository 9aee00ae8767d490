/// A request that joins the set.
struct JoiningEntry {
    let entry: Entry
    let now: Timestamp
    private var id: EntryID { entry.id }

    init(_ entry: Entry, now: Timestamp) {
        self.entry = entry
        self.now = now
    }

    /// - Parameter failure: What brought it here.
    /// - Returns: False if a ticket that it depends on was not delivered.
    @discardableResult
    func join(after failure: Failure? = nil, _ schedule: inout Schedule) -> Bool {
        schedule.insert(entry, now: now)
        schedule.actions.append(.report(.parked, id))
        let isDependable = schedule.joinParents(id)
        schedule.laneChanged(entry.lane, now: now)
        if failure?.evidence == .answered { schedule.actions.append(.dropResponse(id)) }
        return isDependable
    }

    /// A request that could not even try: the canary if no other tests the way, and not behind the
    /// backlog if the gate is open after all.
    func admitFresh(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id] else { return }
        let isShut = schedule.shutGate(before: entry) != nil
        let isKept = schedule.origins[entry.origin].keeps(entry, now: now)
        if schedule.blocker(of: entry) != nil {
            schedule.block(id, isAskedFor: false)
        } else if schedule.isDraining || !entry.hasGoodCredentials(at: now) {
            // One that was on its way to the disk when the proxy began to stop: it goes after the next start.
            schedule.place(id, now: now)
        } else if schedule.mode != .offline, !isShut {
            // No client waits for the response to a ticket, so it takes its turn like a replay.
            if entry.ticket == nil, !isKept {
                schedule.start(id, by: .arrival, now: now)
            } else {
                schedule.makeEligible(id, by: .arrival)
            }
        } else if schedule.mode != .offline, schedule.isUntried(entry),
            !schedule.pauses.isPausedByStore(entry), !isKept
        {
            // Whatever its delay, and a captive portal or not: it is a first attempt.
            schedule.start(id, by: .canary, now: now)
        } else {
            let canaryAt = schedule.shutGate(before: entry).flatMap { schedule.origins.canaryAt($0) }
            schedule.entries[id]?.dueAt = canaryAt ?? now
            schedule.place(id, now: now)
        }
    }
}
