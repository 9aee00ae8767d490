/// A request that its client held is on disk as a ticket: from now on the store keeps it.
package struct EntryStoredAsTicket: PendingFact {
    let id: EntryID

    package init(_ id: EntryID) { self.id = id }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard set.entries[id]?.isBeingStored == true else { return }
        // Before it may go. A reload passes over an entry without a client, which may become a ticket for others.
        set.rerouteIfStale(id, now: now)
        set.change(id) { entry in
            entry.owner = .store
            entry.client.isConnected = false
            entry.expiresAt = entry.ticketDeadline
        }
        set.watchDeadlines(of: id, now: now)
        if !set.joinParents(id) { set.parentFailed(of: id, now: now) }
        set.unblock(id, now: now)
    }
}

/// A request could not be stored as a ticket: its client goes on holding it.
package struct EntryNotStored: PendingFact {
    let id: EntryID

    package init(_ id: EntryID) { self.id = id }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.notStored(id, now: now)
    }
}

/// The client of an entry cannot be given a ticket.
package struct TicketImpossible: PostedFact {
    let id: EntryID

    package init(_ id: EntryID) { self.id = id }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.staysWithClient(id, now: now)
    }
}

/// The store did not take the start record of an attempt.
package struct StartRecordRefused: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.startRecordRefused(now: now)
    }
}

/// The store took something: what was put aside goes on.
package struct StoreRecovered: PendingFact {
    package init() {}

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        set.storeRecovered()
    }
}
