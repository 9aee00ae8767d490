import Retry

/// One exchange in the pending set: what people and programs see of it.
package struct Entry: StandingRequest, Sendable {
    /// The client that waits.
    package struct Client: Sendable, Hashable {
        package var address: String
        package var isConnected: Bool
        package var userAgent: String?
        /// The name that it asked for by TLS, where it is not that of its CONNECT. Not stored.
        @Boxed package var serverName: String? = nil

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
        /// Nil only before it is under way.
        var startedAt: Timestamp?
        /// Whether it tests the way to an origin whose gate is shut.
        var isCanary = false
        /// Whether a person asked for it.
        var isAskedFor = false
        /// Whether it is to be made anew if it has not connected yet.
        var isAbandoned = false
        /// Whether the head of its response has come.
        var isAnswered = false
        /// The parent proxy that it goes through; a reload may have given its entry another one since. Nil: none.
        @Boxed var parentProxyGate: Origin? = nil
        /// The pause of its origin in which it began.
        var pause = StatusPacing.PauseNumber.none
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
    enum Owner: Sendable {
        /// Its client, on its connection.
        case client(ClientWish)
        /// Its client, until the ticket is on disk: nothing is done with it meanwhile.
        case clientUntilStored
        /// The store.
        case store
        /// The cache, which wants to have it for the next reader. No client waits for it.
        case cache
        /// Nothing: its client is gone, and only the outcome of its attempt is wanted.
        case nobody
        /// The same, but others with its key wait for its outcome, or it is being found out whether any do.
        case others
    }

    /// What a client wants when its time on the connection is over.
    enum ClientWish: Sendable {
        /// A response that says so.
        case none
        /// A ticket.
        case ticket
        /// A ticket, and it was offered one, and has not replied yet.
        case offered
    }

    /// Only the history changes it: it cuts off a long URL (`withURL(of:)` has it whole).
    package internal(set) var request: RequestDescription
    /// Its host and path for searches (`EntrySearch.foldedTarget`).
    @Boxed private(set) var foldedTarget: String? = nil
    package var standing: RequestStanding
    var fullState = State.waiting(.due)
    /// The parent proxy through which it goes, by its gate; nil: none. A reload may change it.
    @Boxed package internal(set) var parentProxyGate: Origin? = nil
    var sharedPolicy: SharedPolicy
    package var policy: Policy { sharedPolicy.policy }
    package internal(set) var automaticLeft: Int?
    package internal(set) var isBodyReplayable: Bool
    // What takes a byte stands together: apart, each would take eight.
    /// Whether it was cancelled because the proxy was being stopped.
    var wasStopped = false
    /// Why it does not go on although its client has left under `clientGone: adopt`.
    package internal(set) var adoptionObstacle: AdoptionObstacle?
    /// Whether its next attempt is the retry of a status that the budget has yet to pay for.
    var owesBudget = false
    /// The reload in which it has found its route (`Rerouting.number`).
    var reloadNumber: UInt8 = 0
    /// Whether no byte of it has ever been handed to the kernel.
    var isNeverSent = true
    /// Not nil for a ticket: it is kept in the store, and so is its response.
    package internal(set) var ticket: TicketFacts?
    /// What depends on others, as it stood when someone looked. Only for what people are shown.
    @Boxed var outlook: Outlook? = nil
    /// The incident of the entry: an outage or a decision. Nil: none.
    package internal(set) var incident: IncidentID?

    /// Order of arrival in the set.
    package let sequence: Int
    var waitEnd: WaitEnd
    var owner: Owner
    /// What the budget gave for the retry of a status.
    var grant: RetryBudget.Grant?
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
    /// Since when its attempt is under way; nil where there is none.
    package var attemptStartedAt: Timestamp? { attempt?.startedAt }
    /// How far the attempt under way has got; nil where there is none.
    package var attemptProgress: AttemptProgress? {
        guard let attempt else { return nil }
        var progress = progress ?? AttemptProgress()
        if attempt.isAnswered { progress.phase = .receiving }
        return progress
    }
    var isBlocked: Bool { if case .waiting(.blocked) = fullState { true } else { false } }
    var isHeldByClient: Bool {
        switch owner {
        case .client, .clientUntilStored: true
        case .store, .cache, .nobody, .others: false
        }
    }

    /// Whether its client is gone, and its attempt goes on only so that its outcome is known.
    package var isUnattended: Bool {
        switch owner {
        case .nobody, .others: true
        case .client, .clientUntilStored, .store, .cache: false
        }
    }

    /// Whether it goes on past its time, because others with its key wait for its outcome.
    package var isAwaitedByOthers: Bool { if case .others = owner { true } else { false } }

    var isBeingStored: Bool { if case .clientUntilStored = owner { true } else { false } }

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

    /// True if the entry waits in an outage, or is undecided because of one. An entry without an attempt is undecided because others of
    /// its outage are.
    var isOfOutage: Bool { lastFailure?.shutsGate ?? (why == .exhausted) }

    /// The kind of incident to which it belongs after a restart; nil if to none.
    var lastIncidentKind: Incident.Kind? {
        switch fullState {
        case .waiting where isOfOutage, .held where isOfOutage, .undecided(.exhausted): .outage
        case .undecided: .decision
        case .waiting, .held, .attempting, .ended: nil
        }
    }

    /// Whether reachability ends its wait.
    // mutant: impatient-status
    var isWokenByReachability: Bool { policy.wakeOnReachable && waitEnd != .status }

    /// Whether the opening of the gate ends its wait.
    var isWokenByOrigin: Bool { policy.wakeOnReachable && waitEnd == .origin }

    /// The time at which even an attempt under way is ended. `holdMax`, or an earlier deadline that a person set, limits only the wait.
    /// If the client is gone and the request became no ticket, nobody needs the response, so the attempt ends at `expiresAt`.
    var lifetimeEnd: Timestamp {
        if isHeldByNoClient { return expiresAt }
        return max(expiresAt, parkedAt + policy.lifetime)
    }

    /// Whether its client is gone, and the store did not take it as a ticket.
    var isHeldByNoClient: Bool { if case .client = owner { !client.isConnected } else { false } }

    /// Whether it is still wanted at a time, by its client or as a ticket.
    func canWait(until time: Timestamp) -> Bool {
        if case .client(.none) = owner { expiresAt >= time } else { true }
    }

    /// When its time is over once it is a ticket.
    var ticketDeadline: Timestamp { hasOwnDeadline ? expiresAt : parkedAt + policy.lifetime }

    /// Whether nothing says that the credentials it carries are past their time.
    ///
    /// Past it only a person can have it sent, who may know better.
    func hasGoodCredentials(at now: Timestamp) -> Bool { ticket?.notAfter.map { now < $0 } ?? true }

    /// The commands that are allowed now.
    package var actions: [EntryCommand] {
        switch fullState {
        case .waiting: [.retry, .cancel, .hold, .settle]
        // Past the head of its response there is no going back for a client that reads it.
        case .attempting(let attempt): attempt.isAnswered && isHeldByClient ? [.cancel] : [.cancel, .abort]
        case .held: [.retry, .cancel, .release, .settle]
        // mutant: retry-is-force
        case .undecided(let why): why == .maybeApplied ? [.force, .cancel, .settle] : [.retry, .cancel, .settle]
        case .ended: []
        }
    }

    /// About so many bytes of memory, for limits: what it holds in a row and the texts and attempts beside it.
    package var memoryByteCount: Int {
        let texts = [url, foldedTarget, lane, client.userAgent, lastFailure?.message, lastCommand?.reason, settledBy?.outcome.note]
            .reduce(0) { $0 + ($1?.utf8.count ?? 0) }
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
        var standing = RequestStanding(
            client: new.client, route: new.route, priority: new.priority ?? new.policy.priority, lane: new.lane,
            requestByteCount: new.requestByteCount, parkedAt: now, dueAt: now + new.parking.delay,
            expiresAt: new.unattendedFor.map { now + $0 } ?? expiresAt)
        standing.counts = new.tally.counts
        standing.resume = new.tally.resume
        standing.hasOwnPriority = new.priority != nil
        self.init(
            request: new.request, standing: standing, sharedPolicy: policy, automaticLeft: new.tally.automaticLeft,
            isBodyReplayable: new.tally.isBodyReplayable, ticket: new.ticket, sequence: sequence,
            waitEnd: new.parking.rule == .status ? .status : new.failure == nil || new.parking.shutsGate ? .origin : .time,
            owner: Self.owner(of: new))
        parentProxyGate = new.parentProxyGate
        failed(new.failure, at: now)
        attempts.append(contentsOf: new.tally.records)
        noteSent(new.failure, new.tally.records)
        foldTarget()
    }

    private static func owner(of new: NewEntry) -> Owner {
        if new.ticket != nil { return .store }
        if new.unattendedFor != nil { return .nobody }
        return new.isRefresh ? .cache : .client(new.wantsTicket ? .ticket : .none)
    }

    /// Makes it ready for searches.
    mutating func foldTarget() { foldedTarget = EntrySearch.foldedTarget(unlessPlain: origin, url) }

    mutating func forgetFoldedTarget() { foldedTarget = nil }

    /// Takes over how often it was tried, and what came of it.
    mutating func count(_ tally: AttemptTally) {
        counts = tally.counts
        attempts.append(contentsOf: tally.records)
        resume = tally.resume
    }

    /// More of the response has come, and it broke off once more: `holdMax` counts only while nothing moves.
    mutating func waitsAnew(at now: Timestamp) {
        responseMovedAt = now
        guard !hasOwnDeadline else { return }
        expiresAt = max(expiresAt, min(now + policy.holdMax, lifetimeEnd))
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

    /// What its attempt proved is known after its end.
    mutating func addLateEvidence(_ failure: Failure?, _ tally: AttemptTally, at now: Timestamp) {
        revision += 1
        if tally.counts.all >= counts.all { counts = tally.counts }
        if failure?.evidence == .maybeApplied { counts.mayHaveBeenApplied = true }
        attempts.append(contentsOf: tally.records)
        failed(failure, at: now)
    }

    /// The configuration was read anew. What the request itself said, or a person, stays.
    mutating func reroute(_ newRoute: String?, _ policy: SharedPolicy, automaticLeft left: Int?) {
        route = newRoute
        if !hasOwnPriority { priority = policy.policy.priority }
        sharedPolicy = policy
        automaticLeft = left
        let rules = policy.policy
        let isStored = if case .store = owner { true } else { false }
        let lifeEnd = parkedAt + rules.lifetime
        let end = hasOwnDeadline ? expiresAt : isStored ? lifeEnd : min((responseMovedAt ?? parkedAt) + rules.holdMax, lifeEnd)
        // A reload does not shorten the life that was promised when a ticket was accepted.
        expiresAt = isStored ? max(end, expiresAt) : end
    }

    /// Its attempt is under way now, or has been for longer.
    mutating func noteAttempt(at now: Timestamp) {
        guard case .attempting(var attempt) = fullState else { return }
        attempt.startedAt = attempt.startedAt ?? now
        fullState = .attempting(attempt)
    }

    /// Comes to its end.
    mutating func end(as state: EntryState, at now: Timestamp) {
        revision += 1
        fullState = .ended(state)
        endedAt = now
        outlook = nil
    }
}
