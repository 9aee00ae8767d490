/// An entry whose client waits on its connection, on its way to become a ticket. Nothing is done with it until that is on
/// disk; an attempt under way goes on.
struct TicketStoring {
    let id: EntryID
    let now: Timestamp

    /// It is on disk: from now on the store keeps it.
    func stored(_ schedule: inout Schedule) {
        guard schedule.entries[id]?.isBeingStored == true else { return }
        schedule.change(id) { entry in
            entry.holder = .store
            entry.client.isConnected = false
            entry.expiresAt = entry.ticketDeadline
        }
        Deadlines(id: id, now: now).watch(&schedule)
        if !schedule.joinParents(id) { schedule.parentFailed(of: id, now: now) }
        schedule.unblock(id, now: now)
    }

    /// It could not be stored: its client goes on holding it.
    func notStored(_ schedule: inout Schedule) {
        guard schedule.entries[id]?.isBeingStored == true else { return }
        schedule.entries[id]?.ticket = nil
        schedule.dependencies.remove(id)
        staysHeld(&schedule)
    }

    /// Its client has nothing but its connection. Its time may have run out meanwhile, or the proxy may be stopping.
    func staysHeld(_ schedule: inout Schedule) {
        // One whose client is gone was to become a ticket for others, and goes on without a client.
        guard let entry = schedule.entries[id], entry.ticket == nil, !entry.isUnattended else { return }
        schedule.entries[id]?.holder = .client(.none)
        let deadlines = Deadlines(id: id, now: now)
        if schedule.isDraining || entry.expiresAt <= now { deadlines.endOrOfferTicket(&schedule) }
        deadlines.watch(&schedule)
        schedule.unblock(id, now: now)
    }
}
