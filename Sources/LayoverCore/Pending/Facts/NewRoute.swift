/// The configuration was read anew, and an entry has found its route in it. Its target stays what it was.
struct NewRoute {
    let route: String?
    let policy: SharedPolicy
    let automaticLeft: Int?
    let parentProxyGate: Origin?
    let now: Timestamp

    func apply(to id: EntryID, _ schedule: inout Schedule) {
        guard let entry = schedule.entries[id],
            entry.route != route || entry.policy != policy.policy || entry.parentProxyGate != parentProxyGate
        else { return }
        schedule.giveGrantBack(id, wasMade: entry.state == .attempting)
        schedule.origins[entry.origin].left(entry.policy)
        schedule.origins[entry.origin].joined(policy.policy)
        schedule.limitCanaryDelay(of: entry.origin, now: now)
        takeParentProxy(of: entry, &schedule)
        schedule.change(id) { $0.reroute(route, policy, automaticLeft: automaticLeft) }
        guard let changed = schedule.entries[id] else { return }
        // The retry that the entry owes is paid by the budget of the new policy.
        if changed.owesBudget, let budget = changed.policy.budget {
            schedule.origins[entry.origin].changePacing(of: changed.policy.name) { $0.openBudget(budget) }
        }
        // While an attempt is under way only the end of `lifetime` may be watched: that comes sooner, too.
        let endsSooner = entry.attempt != nil && changed.lifetimeEnd < entry.lifetimeEnd
        if endsSooner || changed.expiresAt != entry.expiresAt { schedule.timers.add(.expiry(id), at: max(changed.expiresAt, now)) }
        // One that waits for its time keeps it; whether it may be woken, and in which order it goes, is new.
        if entry.state == .waiting {
            // The pauses and the budget of another policy do not keep it.
            if let trigger = entry.eligibleBy {
                schedule.makeEligibleAgain(id, by: trigger)
            } else if leavesUnreachableParentProxy(entry, schedule) {
                schedule.makeEligible(id, by: .reachability)
            } else if parentProxyGate != entry.parentProxyGate || changed.isWokenByOrigin != entry.isWokenByOrigin {
                schedule.place(id, now: now)
            }
            schedule.toDispatch.insert(entry.origin)
        }
        // The rule whether its lane waits for an undecided entry may be new, too.
        if let lane = entry.lane { schedule.lanes.takePlaceAgain(id, lane, sequence: entry.sequence) }
        schedule.laneChanged(entry.lane, now: now)
        schedule.touchIncident(of: id, now: now)
        // mutant: word-taken-back
        // The new policy may not allow a second sending.
        schedule.stopIfRisky(id, now: now)
    }

    /// Whether it waited for a parent proxy that it does not need any more: there is another way now.
    private func leavesUnreachableParentProxy(_ entry: Entry, _ schedule: Schedule) -> Bool {
        entry.parentProxyGate != parentProxyGate && entry.lastFailure?.kind == .parentProxyUnreachable
            && schedule.entries[entry.id]?.isWokenByOrigin == true
    }

    /// What is under way counts where it is from now on.
    private func takeParentProxy(of entry: Entry, _ schedule: inout Schedule) {
        schedule.leaveParentProxy(entry.parentProxyGate, entry.policy)
        schedule.joinParentProxy(parentProxyGate, policy.policy, now: now)
        if entry.state == .attempting {
            if let before = entry.parentProxyGate { schedule.origins[before].stopped(entry) }
            if let parentProxyGate { schedule.origins[parentProxyGate].started(entry) }
        }
        schedule.entries[entry.id]?.parentProxyGate = parentProxyGate
        if entry.parentProxyGate != parentProxyGate { schedule.changeParentProxyOutage(entry.id, now: now) }
    }
}
