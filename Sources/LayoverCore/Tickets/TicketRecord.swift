/// All that is kept of a ticket besides its request and its response: enough to go on after a restart.
///
/// Its times are nanoseconds since 1970 (UTC), not since boot: `shifted(by:)` translates between the two. The deadline is
/// measured time (`TicketClock`): a date that is wrong for one boot of the machine does not bring it nearer.
///
/// What people decided is stored as such: no combination of other facts means any of it, because a reload or a crash in
/// between can bring the same combination about.
package struct TicketRecord: StandingRequest, Sendable, Hashable {
    package var request: RequestDescription
    package var standing: RequestStanding
    package var ticket: TicketFacts
    /// Order of acceptance. Unique, and never used again.
    package var sequence: Int
    package var state: EntryState
    /// Not nil exactly when it is undecided.
    package var why: UndecidedReason?
    /// The policy in force when the record was made, by its name.
    package var policy: String
    /// What `Repeatability` said of it when the record was made. A restart does not read it: the rule is asked again, with the
    /// policy of that time.
    package var isRepeatable: Bool
    /// Whether a person asked for an attempt that is still to be made, or is under way.
    package var isAskedFor = false
    /// The parents that were not delivered, and without which a person had it sent.
    package var excusedParents: [EntryID] = []
    /// `TicketClock.unmeasured` as it was when the times were brought in their form for the disk. Says from when on its
    /// history counts; not kept by itself.
    package var unmeasured: Int64 = 0

    package init(
        _ request: RequestDescription, _ standing: RequestStanding, _ ticket: TicketFacts = TicketFacts(), sequence: Int,
        state: EntryState, why: UndecidedReason? = nil, policy: String, isRepeatable: Bool
    ) {
        self.request = request
        self.standing = standing
        self.ticket = ticket
        self.sequence = sequence
        self.state = state
        self.why = why
        self.policy = policy
        self.isRepeatable = isRepeatable
    }

    package var wish: PolicyWish { ticket.wish }
    package var parents: [EntryID] { ticket.parents }
    package var status: Int? { ticket.status }

    /// `endedAt` in measured time.
    package var endedMeasured: Timestamp? { endedAt.map { Timestamp(nanoseconds: $0.nanoseconds &- unmeasured) } }

    /// The same record with all its times moved.
    package func shifted(by clock: TicketClock) -> TicketRecord {
        func moved(_ time: Timestamp) -> Timestamp { time + .nanoseconds(clock.offset) }
        var record = self
        record.unmeasured = clock.unmeasured
        record.request.createdAt = moved(createdAt)
        record.parkedAt = moved(parkedAt)
        record.dueAt = moved(dueAt)
        record.expiresAt = expiresAt + .nanoseconds(clock.measuredOffset)
        record.ticket.notAfter = ticket.notAfter.map(moved)
        record.endedAt = endedAt.map(moved)
        record.lastFailureAt = lastFailureAt.map(moved)
        if let settledBy { record.settledBy?.at = moved(settledBy.at) }
        if let command = lastCommand { record.lastCommand?.at = moved(command.at) }
        if !attempts.records.isEmpty { record.attempts = attempts.shifted(by: clock.offset) }
        return record
    }
}

extension TicketRecord {
    init(_ entry: Entry, _ ticket: TicketFacts) {
        self.init(
            entry.request, entry.standing, ticket, sequence: entry.sequence, state: entry.state, why: entry.why,
            policy: entry.policy.name, isRepeatable: entry.isRepeatable)
        isAskedFor = entry.isAttemptAskedFor
    }

    /// The record of a ticket that is about to be accepted.
    package init(_ new: NewEntry, _ ticket: TicketFacts, sequence: Int, now: Timestamp) {
        var new = new
        new.ticket = ticket
        self.init(Entry(new, policy: SharedPolicy(new.policy), sequence: sequence, now: now), ticket)
    }

    /// Whether the ticket's response broke off, so that there is no body to show.
    package var responseBrokeOff: Bool { state == .delivered && attempts.records.last?.brokeOff == true }
}

extension AttemptRecord {
    /// Whether a response that was to be kept broke off after its head.
    package var brokeOff: Bool {
        guard status != nil, failure?.phase == .receiving, case .deliver = verdict else { return false }
        return true
    }
}

/// Facts that only the entry of a ticket has: its request is in the store, and no client holds it.
package struct TicketFacts: Sendable, Hashable {
    /// The policy that the request's own fields name.
    package var wish: PolicyWish
    /// The tickets that have to be delivered before this one, in no order.
    package var parents: [EntryID]
    /// When the credentials of the request expire; nil if no credential names a time.
    package var notAfter: Timestamp?
    /// The status of the response, once it is delivered.
    package var status: Int?
    /// The form of the base URL by which the request came; nil if it came by none.
    package var baseURL: BaseURLForm?

    package init(wish: PolicyWish = PolicyWish(), parents: [EntryID] = [], notAfter: Timestamp? = nil, baseURL: BaseURLForm? = nil) {
        self.wish = wish
        self.parents = parents
        self.notAfter = notAfter
        self.baseURL = baseURL
    }
}
