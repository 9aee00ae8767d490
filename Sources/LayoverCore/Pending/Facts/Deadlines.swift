/// The times at which an entry ends, and those past which it is not sent.
struct Deadlines {
    let id: EntryID
    let now: Timestamp

    /// Sees to it that the entry ends in time, and that nothing is sent whose credentials are past theirs.
    func watch(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id] else { return }
        watch(entry, &schedule)
    }

    func watch(_ entry: Entry, _ schedule: inout Schedule) {
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

    /// An attempt in flight may go on until the end of `lifetime`; if it fails before, the entry ends then.
    func expire(_ schedule: inout Schedule) {
        // A reload may have moved the end; its own timer comes up then.
        guard schedule.entries.show(id, { $0.expiresAt <= now }) == true, let entry = schedule.entries[id] else { return }
        // mutant: unattended-without-end
        if entry.isUnattended { return schedule.unattendedIsOver(id, now: now) }
        if let attempt = entry.attempt { return endAttempt(attempt, of: entry, &schedule) }
        endOrOfferTicket(&schedule)
    }

    /// A server that hangs would otherwise hold up a lane for ever.
    private func endAttempt(_ attempt: Entry.Attempt, of entry: Entry, _ schedule: inout Schedule) {
        // mutant: endless-attempt
        guard entry.lifetimeEnd <= now else { return schedule.timers.add(.expiry(id), at: entry.lifetimeEnd) }
        // Its work is done, and its client reads: it may take as long as the client likes.
        if attempt.isAnswered, entry.isHeldByClient, !entry.isHeldByNoClient { return }
        // What has come of the response counts.
        if attempt.isAnswered { return schedule.actions.append(.abortAttempt(id, isCommanded: false)) }
        schedule.end(id, as: .expired, .expired, now: now)
    }

    /// The time of the entry is over, or the proxy is being stopped: a ticket lives on, and a client that wants one is asked.
    func endOrOfferTicket(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id] else { return }
        switch entry.holder {
        case .clientUntilStored, .client(.offered): return
        // A ticket whose own time is over too is of no use to anyone.
        case .client(.ticket) where entry.lifetimeEnd > now:
            schedule.entries[id]?.holder = .client(.offered)
            return schedule.actions.append(.offerTicket(id))
        case .client, .store, .cache, .nobody, .others: break
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
