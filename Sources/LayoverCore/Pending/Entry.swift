import Retry

/// One exchange in the pending set: what people and programs see of it.
package struct Entry: Sendable {
    /// The client that waits.
    package struct Client: Sendable, Hashable {
        package var address: String
        package var isConnected: Bool
        package var userAgent: String?

        package init(address: String, isConnected: Bool = true, userAgent: String? = nil) {
            self.address = address
            self.isConnected = isConnected
            self.userAgent = userAgent
        }
    }

    /// Where it stands, with what only matters there. `EntryState` has the exits.
    enum State: Sendable {
        case waiting(Turn)
        case attempting(Attempt)
        case held
        case undecided(UndecidedReason)
        /// In this final state.
        case ended(EntryState)
    }

    /// What a waiting entry needs before it may go.
    enum Turn: Sendable {
        /// Its due time, or its origin.
        case due
        /// Room in the window of its origin: this said that it may go.
        case eligible(AttemptTrigger)
        /// The end of others that go before it. It is in no heap meanwhile.
        case blocked(isAskedFor: Bool)
    }

    /// The attempt under way.
    struct Attempt: Sendable {
        /// Whether it tests the way to an origin whose gate is shut.
        var isCanary = false
        /// Whether a person asked for it.
        var isAskedFor = false
        /// Whether it is to be made anew if it has not connected yet.
        var isAbandoned = false
    }

    /// What ends the wait of an entry before its due time.
    enum WaitEnd: Sendable {
        /// Nothing but reachability.
        case time
        /// The opening of the gate too.
        case origin
        /// Nothing: a status says nothing about reachability.
        case status
    }

    /// Who keeps the request.
    enum Holder: Sendable {
        /// Its client, on its connection.
        case client(TicketWish)
        /// Its client, until the ticket is on disk: nothing is done with it meanwhile.
        case clientUntilStored
        /// The store.
        case store
    }

    /// What a client wants when its time on the connection is over.
    enum TicketWish: Sendable {
        /// A response that says so.
        case none
        /// A ticket.
        case ticket
        /// A ticket, and it was offered one; its answer is still to come.
        case offered
    }

    /// The address of its ticket too, and so a secret of its client: it is shown by another one (`EntryNaming`).
    package let id: EntryID
    /// Grows with every change.
    package internal(set) var revision = 1
    var fullState = State.waiting(.due)
    package internal(set) var waitingFor: WaitReason?
    package let method: String
    /// The target without userinfo; `host:port` for CONNECT.
    package internal(set) var url: String
    package let origin: Origin
    package internal(set) var route: String?
    var sharedPolicy: SharedPolicy
    package var policy: Policy { sharedPolicy.policy }
    package internal(set) var client: Client
    package internal(set) var attemptCount: Int
    package internal(set) var automaticLeft: Int?
    package let createdAt: Timestamp
    package let parkedAt: Timestamp
    /// When it goes by itself, if nothing else happens before. Nil: not while things stand as they are.
    package internal(set) var nextAttemptAt: Timestamp?
    /// When its client gets a 504 or its life ends, whichever is first.
    package internal(set) var expiresAt: Timestamp
    @Boxed package internal(set) var lastFailure: Failure?
    package internal(set) var lastFailureAt: Timestamp?
    package internal(set) var requestByteCount: Int
    package internal(set) var isBodyReplayable: Bool
    package internal(set) var hasIdempotencyKey = false
    /// Whether any attempt so far may have been applied.
    package internal(set) var mayHaveBeenApplied = false
    /// Whether it carries a body or credentials over plain http: a captive portal must not get it.
    package let isExposed: Bool
    /// 0 (first) to 7 (last) among the entries of its origin (RFC 9218).
    package internal(set) var priority: Int
    /// The entries among which it keeps its order; nil: none.
    package internal(set) var lane: String?
    /// Not nil for a ticket: it is kept in the store, and so is its response.
    package internal(set) var ticket: TicketFacts?
    /// The outage it waits in.
    package internal(set) var incident: IncidentID?
    /// Its attempts so far.
    package internal(set) var attempts = AttemptLog()
    /// The newer request that took its place.
    @Boxed package internal(set) var supersededBy: EntryID?
    /// Why it does not go on although its client has left under `clientGone: adopt`.
    package internal(set) var adoptionObstacle: AdoptionObstacle?
    /// When it came to its end.
    package internal(set) var endedAt: Timestamp?

    /// Order of arrival in the set.
    let sequence: Int
    /// When its own wait is over.
    var dueAt: Timestamp
    var waitEnd: WaitEnd
    var holder: Holder
    /// What the budget gave for the retry of a status.
    var grant: RetryBudget.Grant?
    /// Whether a person stopped its automatic attempts; it stays so over attempts that a person asks for.
    var isHeldBack = false
    /// Whether a person took the risk that it acts twice, and no attempt has come of that yet.
    package internal(set) var isForced = false
    /// Whether no byte of it has ever been handed to the kernel.
    var isNeverSent = true
    /// Whether a person set its deadline, so that a policy does not.
    var hasOwnDeadline = false
    /// Whether a person or its client set its priority, so that a policy does not.
    var hasOwnPriority = false
    /// Grows whenever the entry is put somewhere else, so that stale places in heaps are known.
    var placement: UInt32 = 0
}

// MARK: What follows from it

extension Entry {
    package var state: EntryState {
        switch fullState {
        case .waiting: .waiting
        case .attempting: .attempting
        case .held: .held
        case .undecided: .undecided
        case .ended(let state): state
        }
    }

    /// Why it is undecided.
    package var why: UndecidedReason? { if case .undecided(let why) = fullState { why } else { nil } }
    /// The attempt under way.
    var attempt: Attempt? { if case .attempting(let attempt) = fullState { attempt } else { nil } }
    /// What said that a waiting entry may go.
    var eligibleBy: AttemptTrigger? { if case .waiting(.eligible(let trigger)) = fullState { trigger } else { nil } }
    var isBlocked: Bool { if case .waiting(.blocked) = fullState { true } else { false } }
    var isHeldByClient: Bool { if case .store = holder { false } else { true } }
    var isBeingStored: Bool { if case .clientUntilStored = holder { true } else { false } }

    /// Whether a person asked for an attempt that is still to be made, or is under way.
    var isAttemptAskedFor: Bool {
        switch fullState {
        case .waiting(.eligible(.admin)), .waiting(.blocked(isAskedFor: true)): true
        case .attempting(let attempt): attempt.isAskedFor
        case .waiting, .held, .undecided, .ended: false
        }
    }

    /// Whether its body is so big that it must not take all the room of its origin.
    var isBig: Bool { requestByteCount > OriginState.bigByteCount }

    /// Whether sending it twice does no harm: by its own nature, or by the word of its policy as that is now.
    package var isRepeatable: Bool {
        Repeatability(method: method, origin: origin, hasIdempotencyKey: hasIdempotencyKey, policy: policy).mayBeSentTwice
    }

    /// Whether sending it once more might act twice, and neither a person nor a policy has taken that risk.
    var isRisky: Bool { mayHaveBeenApplied && !isForced && !isRepeatable }

    /// Whether reachability ends its wait.
    // mutant: impatient-status
    var isWokenByReachability: Bool { policy.wakeOnReachable && waitEnd != .status }

    /// Whether the opening of the gate ends its wait.
    var isWokenByOrigin: Bool { policy.wakeOnReachable && waitEnd == .origin }

    /// When its time is over once it is a ticket.
    var ticketDeadline: Timestamp { hasOwnDeadline ? expiresAt : parkedAt + policy.lifetime }

    /// Whether nothing says that the credentials it carries are past their time.
    ///
    /// Past it only a person can have it sent, who may know better.
    func hasGoodCredentials(at now: Timestamp) -> Bool { ticket?.notAfter.map { now < $0 } ?? true }

    /// The commands that are allowed now.
    package var actions: [EntryCommand] {
        switch fullState {
        case .waiting: [.retry, .cancel, .hold]
        case .attempting: [.cancel]
        case .held: [.retry, .cancel, .release]
        // mutant: retry-is-force
        case .undecided(let why): why == .maybeApplied ? [.force, .cancel] : [.retry, .cancel]
        case .ended: []
        }
    }

    /// About so many bytes of memory, for limits: what it holds in a row and the texts and attempts beside it.
    package var memoryByteCount: Int {
        let texts = [url, lane, client.userAgent, lastFailure?.message].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return MemoryLayout<Entry>.size + texts + attempts.records.count * (MemoryLayout<AttemptRecord>.stride + 128)
            + (ticket?.parents.count ?? 0) * MemoryLayout<EntryID>.stride
    }

    /// Since when it waits because of the outage that its last failure speaks of, as far as its timeline goes back.
    var outageBeganAt: Timestamp {
        let run = attempts.records.reversed().prefix { $0.failure?.shutsGate == true }
        return run.last.map { $0.endedAt ?? $0.startedAt } ?? lastFailureAt ?? parkedAt
    }
}

// MARK: What changes it

extension Entry {
    /// A request that joins the set.
    init(_ new: NewEntry, policy: SharedPolicy, sequence: Int, now: Timestamp) {
        let isTicket = new.ticket != nil
        // mutant: no-deadline
        let expiresAt = now + (isTicket ? new.policy.lifetime : min(new.policy.holdMax, new.policy.lifetime))
        self.init(
            id: new.id, method: new.method, url: new.url, origin: new.origin, route: new.route,
            sharedPolicy: policy, client: new.client, attemptCount: new.attemptCount,
            automaticLeft: new.automaticLeft, createdAt: new.createdAt, parkedAt: now, expiresAt: expiresAt,
            lastFailure: new.failure, lastFailureAt: new.failure == nil ? nil : now,
            requestByteCount: new.requestByteCount, isBodyReplayable: new.isBodyReplayable,
            hasIdempotencyKey: new.hasIdempotencyKey,
            mayHaveBeenApplied: new.mayHaveBeenApplied || new.ticket?.counts.mayHaveBeenApplied ?? false,
            isExposed: new.isExposed, priority: new.priority ?? new.policy.priority, lane: new.lane,
            ticket: new.ticket, sequence: sequence, dueAt: now + new.parking.delay,
            waitEnd: new.parking.rule == .status ? .status : new.failure == nil || new.parking.shutsGate ? .origin : .time,
            holder: isTicket ? .store : .client(new.wantsTicket ? .ticket : .none),
            hasOwnPriority: new.priority != nil)
        attempts.append(contentsOf: new.attempts)
        noteSent(new.failure, new.attempts)
    }

    /// Takes over how often it was tried.
    mutating func count(_ counts: AttemptCounts) {
        ticket?.counts = counts
        mayHaveBeenApplied = counts.mayHaveBeenApplied
    }

    mutating func count(_ tally: AttemptTally) {
        attemptCount = tally.attemptCount
        count(tally.counts)
        attempts.append(contentsOf: tally.records)
    }

    /// Takes note of whether a byte of it may have left.
    mutating func noteSent(_ failure: Failure?, _ records: [AttemptRecord]) {
        let evidence = [failure?.evidence] + records.map(\.evidence)
        if evidence.contains(where: { $0 != nil && $0 != .neverSent }) { isNeverSent = false }
    }

    mutating func failed(_ failure: Failure?, at now: Timestamp) {
        guard let failure else { return }
        lastFailure = failure
        lastFailureAt = now
    }

    /// The configuration was read anew. What the request itself said, or a person, stays.
    mutating func reroute(_ newRoute: String?, _ policy: SharedPolicy, automaticLeft left: Int?) {
        route = newRoute
        if !hasOwnPriority { priority = policy.policy.priority }
        sharedPolicy = policy
        automaticLeft = left
        let rules = policy.policy
        let life = isHeldByClient ? min(rules.holdMax, rules.lifetime) : rules.lifetime
        let end = hasOwnDeadline ? expiresAt : parkedAt + life
        // How long what was accepted may live was promised with it.
        expiresAt = isHeldByClient ? end : max(end, expiresAt)
    }

    /// Comes to its end.
    mutating func end(as state: EntryState, at now: Timestamp) {
        revision += 1
        fullState = .ended(state)
        endedAt = now
        waitingFor = nil
        nextAttemptAt = nil
    }
}
