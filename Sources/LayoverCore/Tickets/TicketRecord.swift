/// What people decided about a ticket, as far as its state does not say it. Stored as such: no combination of other facts
/// means any of it, because a reload or a crash in between can bring the same combination about.
package struct TicketDecisions: Sendable, Hashable {
    /// Whether a person took the risk that it acts twice, and no attempt has come of that yet.
    package var isForced = false
    /// Whether a person asked for an attempt that is still to be made, or is under way.
    package var isAskedFor = false
    /// Whether a person set its deadline.
    package var hasOwnDeadline = false
    /// Whether a person or its client set its priority.
    package var hasOwnPriority = false
    /// The parents that were not delivered, and without which a person had it sent.
    package var excusedParents: [EntryID] = []

    package init() {}
}

/// All that is kept of a ticket besides its request and its answer: enough to go on after a restart.
///
/// Its times are nanoseconds since 1970 (UTC), not since boot: `shifted(by:)` translates between the two. The deadline is
/// measured time (`TicketClock`): a date that is wrong for one boot of the machine does not bring it nearer.
package struct TicketRecord: Sendable, Hashable {
    package var id: EntryID
    /// Order of acceptance. Unique, and never used again.
    package var sequence: Int
    /// Grows with every change.
    package var revision: Int
    package var state: EntryState
    /// Not nil exactly when it is undecided.
    package var why: UndecidedReason?

    package var method: String
    /// As people are shown it.
    package var url: String
    package var origin: Origin
    package var route: String?
    package var wish: PolicyWish
    /// The policy in force when the record was made, by its name.
    package var policy: String
    /// 0 (first) to 7 (last).
    package var priority: Int
    package var lane: String?
    /// The tickets that have to be delivered before it, in no order.
    package var parents: [EntryID]
    package var client: Entry.Client

    package var counts: AttemptCounts
    /// What `Repeatability` said of it when the record was made. A restart does not read it: the rule is asked again, with the
    /// policy of that time.
    package var isRepeatable: Bool
    package var hasIdempotencyKey: Bool
    /// Whether it carries a body or credentials over plain http.
    package var isExposed: Bool
    /// Whether a person stopped its automatic attempts.
    package var isHeldBack: Bool
    package var requestByteCount: Int

    package var createdAt: Timestamp
    package var parkedAt: Timestamp
    package var dueAt: Timestamp
    package var expiresAt: Timestamp
    /// When its credentials expire; nil where nothing says so.
    package var notAfter: Timestamp?
    /// Not nil exactly when the state is final.
    package var endedAt: Timestamp?
    /// `TicketClock.unmeasured` as it was when the times were brought in their form for the disk. Says from when on its
    /// history counts; not kept by itself.
    package var unmeasured: Int64 = 0
    package var lastFailure: Failure?
    package var lastFailureAt: Timestamp?
    package var attempts: AttemptLog
    /// The status of the answer, once it is delivered.
    package var status: Int?
    /// What it expects of the present state of its target; nil: nothing.
    package var preconditions: String?
    /// The newer ticket that took its place; not nil only when it is cancelled.
    package var supersededBy: EntryID?
    /// What people decided about it.
    package var decisions = TicketDecisions()

    package init(
        id: EntryID, sequence: Int, revision: Int = 1, state: EntryState, why: UndecidedReason? = nil,
        method: String, url: String, origin: Origin, route: String? = nil, wish: PolicyWish = PolicyWish(),
        policy: String, priority: Int = 3, lane: String? = nil, parents: [EntryID] = [], client: Entry.Client,
        counts: AttemptCounts = AttemptCounts(), isRepeatable: Bool, hasIdempotencyKey: Bool = false,
        isExposed: Bool = false, isHeldBack: Bool = false, requestByteCount: Int = 0, createdAt: Timestamp,
        parkedAt: Timestamp, dueAt: Timestamp, expiresAt: Timestamp, notAfter: Timestamp? = nil,
        endedAt: Timestamp? = nil, lastFailure: Failure? = nil, lastFailureAt: Timestamp? = nil,
        attempts: AttemptLog = AttemptLog(), status: Int? = nil, preconditions: String? = nil,
        supersededBy: EntryID? = nil
    ) {
        self.id = id
        self.sequence = sequence
        self.revision = revision
        self.state = state
        self.why = why
        self.method = method
        self.url = url
        self.origin = origin
        self.route = route
        self.wish = wish
        self.policy = policy
        self.priority = priority
        self.lane = lane
        self.parents = parents
        self.client = client
        self.counts = counts
        self.isRepeatable = isRepeatable
        self.hasIdempotencyKey = hasIdempotencyKey
        self.isExposed = isExposed
        self.isHeldBack = isHeldBack
        self.requestByteCount = requestByteCount
        self.createdAt = createdAt
        self.parkedAt = parkedAt
        self.dueAt = dueAt
        self.expiresAt = expiresAt
        self.notAfter = notAfter
        self.endedAt = endedAt
        self.lastFailure = lastFailure
        self.lastFailureAt = lastFailureAt
        self.attempts = attempts
        self.status = status
        self.preconditions = preconditions
        self.supersededBy = supersededBy
    }

    /// `endedAt` in measured time.
    package var endedMeasured: Timestamp? { endedAt.map { Timestamp(nanoseconds: $0.nanoseconds &- unmeasured) } }

    /// The same record with all its times moved.
    package func shifted(by clock: TicketClock) -> TicketRecord {
        func moved(_ time: Timestamp) -> Timestamp { time + .nanoseconds(clock.offset) }
        var record = self
        record.unmeasured = clock.unmeasured
        record.createdAt = moved(createdAt)
        record.parkedAt = moved(parkedAt)
        record.dueAt = moved(dueAt)
        record.expiresAt = expiresAt + .nanoseconds(clock.measuredOffset)
        record.notAfter = notAfter.map(moved)
        record.endedAt = endedAt.map(moved)
        record.lastFailureAt = lastFailureAt.map(moved)
        record.attempts = attempts.shifted(by: clock.offset)
        return record
    }
}
