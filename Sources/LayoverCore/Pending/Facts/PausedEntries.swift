/// Has what was put aside go on: what a captive portal must not get, and tickets whose start the store did not record.
struct PausedEntries {
    let now: Timestamp

    /// When the pause is over: lets one of the tickets that were put aside find out whether the store has recovered. If the
    /// store has not, the ticket goes behind the others.
    func probeStore(_ schedule: inout Schedule) {
        let pauses = schedule.pauses
        guard let pauseEnd = pauses.storePauseEnd, pauseEnd <= now, !schedule.isAtRest,
            pauses.storeProbe.flatMap({ schedule.entries[$0]?.state }) != .attempting
        else { return }
        while let origin = schedule.origins.longestPausedByStore(now: now),
            let place = schedule.origins[origin].popPausedByStore()
        {
            guard schedule.mayGo(place, now: now, probesStore: true) else { continue }
            schedule.pauses.probeStarted(place.id)
            let isShut = schedule.origins.isShut(origin)
            let trigger = schedule.entries[place.id]?.eligibleBy ?? (isShut ? .canary : .reachability)
            return schedule.start(place.id, by: trigger, now: now)
        }
    }

    /// The store has recovered: what was put aside goes on.
    func storeRecovered(_ schedule: inout Schedule) {
        schedule.pauses.storeRecovered()
        for origin in schedule.origins.inOrder {
            for place in schedule.origins[origin].popAllPausedByStore() where schedule.entries.isCurrent(place) {
                // It was eligible or waited for the gate; either way its turn had come.
                schedule.makeEligibleAgain(place.id, by: schedule.entries[place.id]?.eligibleBy ?? .reachability)
                schedule.toDispatch.insert(origin)
            }
        }
    }

    /// The captive portal is gone: what was put aside goes on.
    func portalLeft(_ schedule: inout Schedule) {
        let kept = schedule.pauses.portalLeft().sorted { schedule.isBefore($0.id, $1.id) }
        for place in kept where schedule.entries.isCurrent(place) {
            schedule.makeEligibleAgain(place.id, by: .reachability)
            if let origin = schedule.entries[place.id]?.origin { schedule.toDispatch.insert(origin) }
        }
    }
}
