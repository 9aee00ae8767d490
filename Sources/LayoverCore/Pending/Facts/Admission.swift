/// The numbers that entries get, the order of arrival, and the tickets that have room and are not on disk yet.
struct Admission: Sendable {
    private var policies = SharedPolicies()
    /// The last number that was given.
    private(set) var sequence = 0
    /// Tickets that were admitted and are not on disk yet.
    private(set) var acceptingCount = 0

    /// A ticket gets room. The room is taken or given back by `decided`.
    ///
    /// - Returns: The number of the ticket.
    mutating func admitTicket() -> Int {
        acceptingCount += 1
        return nextSequence()
    }

    /// An admitted ticket is on disk, or will not be.
    mutating func decided() { acceptingCount -= 1 }

    mutating func nextSequence() -> Int {
        sequence += 1
        return sequence
    }

    /// Numbers up to this one were used.
    mutating func skipSequences(to last: Int) { sequence = max(sequence, last) }

    mutating func shared(_ policy: Policy) -> SharedPolicy { policies.shared(policy) }

    mutating func entry(_ new: NewEntry, sequence: Int, now: Timestamp) -> Entry {
        Entry(new, policy: shared(new.policy), sequence: sequence, now: now)
    }
}

/// What comes of asking for room for a ticket.
package enum TicketAdmission: Sendable, Hashable {
    case admitted(sequence: Int)
    case refused(limit: String, value: Int)
    case draining
}

/// Limits on the pending set.
package struct PendingLimits: Sendable, Hashable {
    /// Most entries. When it is full we refuse to park, and the client gets a 503; an older entry is
    /// never evicted to make room. Default: 100 000.
    package var entryCountMax = 100_000
    /// Most clients that wait on their connection. Default: 1 024.
    package var heldClientCountMax = 1024
    /// Most attempts that go on without a client. When there are more, the oldest ends. Default: 1 024.
    package var unattendedCountMax = 1024
    /// Most attempts under way to one origin before replays wait for their turn. Default: 64.
    package var perOriginAttemptCountMax = 64
    /// Final entries that are remembered, the newest. Default: 10 000.
    package var rememberedCountMax = 10_000

    /// Origins without entries whose shut gate is remembered. Default: 10 000.
    package var rememberedOriginCountMax = 10_000

    package init() {}
}
