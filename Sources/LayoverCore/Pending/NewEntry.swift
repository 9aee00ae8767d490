/// An exchange that asks to join the pending set, as its loop describes it.
package struct NewEntry: Sendable {
    package var id: EntryID
    package var method: String
    package var url: String
    package var origin: Origin
    package var route: String?
    package var policy: Policy
    package var client: Entry.Client
    package var createdAt: Timestamp
    package var attemptCount: Int
    package var automaticLeft: Int?
    package var requestByteCount: Int
    package var isBodyReplayable: Bool
    package var hasIdempotencyKey = false
    /// Whether an attempt before it came here may have been applied.
    package var mayHaveBeenApplied = false
    /// Whether it carries a body or credentials over plain http.
    package var isExposed: Bool
    /// The attempts that were made before it came here.
    package var attempts: [AttemptRecord]
    /// What brought it here; nil when the gate was shut before it could try.
    package var failure: Failure?
    package var parking: Verdict.Parking
    /// Nil: the policy's.
    package var priority: Int?
    package var lane: String?
    /// Whether the client takes a ticket when its time on the connection is over.
    package var wantsTicket = false
    /// What it expects of the present state of its target, as `TicketFacts` says it; for one that a client holds.
    package var preconditions: String?
    /// Not nil for a ticket.
    package var ticket: TicketFacts?

    package init(
        id: EntryID, method: String, url: String, origin: Origin, route: String? = nil,
        policy: Policy = .standard, client: Entry.Client, createdAt: Timestamp, attemptCount: Int = 0,
        automaticLeft: Int? = nil, requestByteCount: Int = 0, isBodyReplayable: Bool = true,
        isExposed: Bool = false, attempts: [AttemptRecord] = [],
        failure: Failure? = nil, parking: Verdict.Parking
    ) {
        self.id = id
        self.method = method
        self.url = url
        self.origin = origin
        self.route = route
        self.policy = policy
        self.client = client
        self.createdAt = createdAt
        self.attemptCount = attemptCount
        self.automaticLeft = automaticLeft
        self.requestByteCount = requestByteCount
        self.isBodyReplayable = isBodyReplayable
        self.isExposed = isExposed
        self.attempts = attempts
        self.failure = failure
        self.parking = parking
    }
}
