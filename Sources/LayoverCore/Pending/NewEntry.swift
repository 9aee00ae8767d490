/// An exchange that asks to join the pending set, as its loop describes it.
package struct NewEntry: Sendable {
    package var request: RequestDescription
    package var client: Entry.Client
    package var route: String?
    package var policy: Policy
    /// The parent proxy through which it goes, by its gate. Nil: none.
    package var parentProxyGate: Origin?
    /// Gate of the parent proxy of the last attempt. A reload may have named another parent proxy since.
    package var attemptParentProxyGate: Origin?
    /// The wish of the request itself about its policy.
    package var wish = PolicyWish()
    /// `RouteTable.number` of the table in which its route, policy and parent proxy were found.
    package var routesNumber = 0
    /// The attempts that were made before it came here.
    package var tally: AttemptTally
    package var requestByteCount: Int
    /// What brought it here; nil when the gate was shut before it could try.
    package var failure: Failure?
    package var parking: Verdict.Parking
    /// Nil: the policy's.
    package var priority: Int?
    package var lane: String?
    /// Whether the client takes a ticket when its time on the connection is over.
    package var wantsTicket = false
    /// Whether it brings the cache up to date, and no client waits for it.
    package var isRefresh = false
    /// How long its attempt, which is under way, may go on without a client. Nil: its client is there, or it needs none.
    package var unattendedFor: Duration?
    /// Not nil for a ticket.
    package var ticket: TicketFacts?

    package var id: EntryID { request.id }

    package init(
        _ request: RequestDescription, client: Entry.Client, route: String? = nil, policy: Policy = .standard,
        _ tally: AttemptTally = AttemptTally(), requestByteCount: Int = 0, failure: Failure? = nil, parking: Verdict.Parking
    ) {
        self.request = request
        self.client = client
        self.route = route
        self.policy = policy
        self.tally = tally
        self.requestByteCount = requestByteCount
        self.failure = failure
        self.parking = parking
    }
}

/// How many attempts an exchange has made, and what people may know of the newest.
package struct AttemptTally: Sendable, Hashable {
    package var counts: AttemptCounts
    package var automaticLeft: Int?
    package var isBodyReplayable: Bool
    /// The attempts that ended since the engine was told last.
    package var records: [AttemptRecord]
    /// How far its response is that broke off; nil where none did.
    @Boxed package var resume: ResumeProgress? = nil

    package init(
        _ counts: AttemptCounts = AttemptCounts(), automaticLeft: Int? = nil, isBodyReplayable: Bool = true,
        records: [AttemptRecord] = [], resume: ResumeProgress? = nil
    ) {
        _resume = Boxed(wrappedValue: resume)
        self.counts = counts
        self.automaticLeft = automaticLeft
        self.isBodyReplayable = isBodyReplayable
        self.records = records
    }
}
