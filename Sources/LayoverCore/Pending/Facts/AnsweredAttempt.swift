/// A response head came back for the attempt of an entry, or its CONNECT stands.
struct AnsweredAttempt {
    let tally: AttemptTally
    let now: Timestamp

    func apply(to id: EntryID, _ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], case .attempting(var attempt) = entry.fullState else { return }
        schedule.entries[id]?.count(tally)
        schedule.entries[id]?.isNeverSent = false
        attempt.isAnswered = true
        schedule.entries[id]?.fullState = .attempting(attempt)
        // Its client waits no longer. Of a ticket people are told at its end, which comes soon.
        if entry.ticket == nil { schedule.actions.append(.report(.changed, id)) }
        schedule.origins[entry.origin].changePause(of: entry) { $0.answered($1, now: now) }
        // It waits no longer, however long its response or its tunnel goes on.
        schedule.leaveIncident(id, now: now)
        schedule.parentProxyReached(attempt.parentProxyGate, isAnswered: true, now: now)
        schedule.originOpened(entry.origin, now: now)
    }
}
