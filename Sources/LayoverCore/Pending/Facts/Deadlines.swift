/// The times at which an entry ends, and those past which it is not sent.
struct Deadlines {
    let id: EntryID
    let now: Timestamp

    /// Sees to it that the entry ends in time, and that nothing is sent whose credentials are past theirs.
    func watch(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id] else { return }
        schedule.timers.add(.expiry(id), at: max(entry.expiresAt, now))
        if let notAfter = entry.ticket?.notAfter { schedule.timers.add(.credentials(id), at: max(notAfter, now)) }
    }

    func credentialsExpired(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.state == .waiting, !entry.hasGoodCredentials(at: now),
            !entry.isBeingStored, !entry.isAttemptAskedFor
        else { return }
        schedule.ask(id, .credentialsExpired, now: now)
        schedule.originChanged(entry.origin)
    }

    /// An attempt in flight may finish; if it fails, the entry ends then.
    func expire(_ schedule: inout Schedule) {
        // A reload may have moved the end; its own timer comes up then.
        guard let entry = schedule.entries[id], entry.state != .attempting, entry.expiresAt <= now else { return }
        endOrOfferTicket(&schedule)
    }

    /// The time of the entry is over, or the proxy is being stopped: a ticket lives on, and a client that wants one is asked.
    func endOrOfferTicket(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id] else { return }
        switch entry.holder {
        case .client(.none), .store, .cache: break
        case .clientUntilStored, .client(.offered): return
        case .client(.ticket):
            schedule.entries[id]?.holder = .client(.offered)
            return schedule.actions.append(.offerTicket(id))
        }
        guard entry.state != .attempting else { return }
        if entry.expiresAt <= now {
            schedule.end(id, as: .expired, .expired, now: now)
        // mutant: draining
        } else if schedule.isDraining, entry.ticket == nil {
            schedule.end(id, as: .cancelled, .draining, now: now)
        }
    }
}
