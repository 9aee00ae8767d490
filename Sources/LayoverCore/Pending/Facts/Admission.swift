/// Which requests may join the set, and with which number: the order of arrival.
struct Admission: Sendable {
    private let limits: PendingLimits
    private var policies = SharedPolicies()
    /// The last number that was given.
    private(set) var sequence = 0
    /// Tickets that were admitted and are not on disk yet.
    private(set) var acceptingCount = 0

    init(_ limits: PendingLimits) { self.limits = limits }

    /// - Returns: What its exchange is told instead of joining; nil if it may join.
    func refusal(of new: NewEntry, _ schedule: Schedule) -> PendingAction? {
        let id = new.id
        if schedule.isDraining { return .end(id, .draining) }
        // mutant: over-the-limit
        if schedule.waitingCount + acceptingCount >= limits.entryCountMax {
            return .refuse(id, limit: "limits.entries", value: limits.entryCountMax)
        }
        if !new.isRefresh, schedule.entries.heldCount >= limits.heldClientCountMax {
            return .refuse(id, limit: "limits.heldClients", value: limits.heldClientCountMax)
        }
        return nil
    }

    /// Asks for room for a ticket. What is granted is taken or given back by `decided`.
    mutating func admitTicket(_ schedule: Schedule) -> TicketAdmission {
        if schedule.isDraining { return .draining }
        if schedule.waitingCount + acceptingCount >= limits.entryCountMax {
            return .refused(limit: "limits.entries", value: limits.entryCountMax)
        }
        acceptingCount += 1
        return .admitted(sequence: nextSequence())
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
