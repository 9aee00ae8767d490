/// The exchange of an entry came to its end on its loop.
struct EndedExchange {
    let state: EntryState
    let failure: Failure?
    /// Of the response that was kept; nil where there is none.
    let status: Int?
    let tally: AttemptTally
    let now: Timestamp

    func apply(to id: EntryID, _ schedule: inout Schedule, using generator: inout some RandomNumberGenerator) {
        guard let entry = schedule.entries[id] else { return }
        schedule.entries[id]?.amend { entry in
            entry.count(tally)
            if let status { entry.ticket?.status = status }
            entry.failed(failure, at: now)
            if let failure, state == .delivered { entry.attempts.lastBrokeOff(failure, at: now) }
        }
        schedule.transition(id, to: .ended(state), now: now)
        // Without an attempt under way the failure is an old one, which the gate knows already. A failure that says nothing about the
        // way (for example a bad certificate) does not delay the next canary.
        guard let failure, let attempt = entry.attempt, failure.shutsGate || failure.evidence == .maybeApplied
        else { return }
        schedule.learn(
            from: failure, of: (entry.policy, entry.origin, attempt.parentProxyGate), shutsGate: failure.shutsGate,
            isFromCanary: attempt.isCanary, now: now, using: &generator)
    }
}
