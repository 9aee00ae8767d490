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
