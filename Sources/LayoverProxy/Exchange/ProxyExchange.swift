import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// One client request and all that is done for it, on the client's event loop.
///
/// Translates between the connection, the upstream worker and the core: the verdict on a failure is the
/// core's (`ExchangeMachine`), and when a parked exchange goes is the engine's. This class alone decides who
/// answers the client: the first claim wins.
///
/// `@unchecked Sendable`: confined to the loop; the engine's calls hop there.
final class ProxyExchange: UpstreamReceiver, ConnectionExchange, @unchecked Sendable {
    let loop: ProxyLoop
    weak var connection: ClientConnection?
    var request: UpstreamRequest
    var machine: ExchangeMachine
    /// A reload may change it.
    var route: String?
    let wish: PolicyWish
    let hasIdempotencyKey: Bool
    let client: ClientFacts
    /// The request as it came. Given up once nobody will ask, because it holds on to the bytes around it.
    private(set) var head: RequestHead?
    let createdAt: Timestamp
    /// The attempt under way.
    var attempt: UpstreamAttempt?
    /// Its place in the pending set, once it has one.
    var entry: EntryID?
    let order: OrderWish
    /// What is to be done when its client takes a ticket; nil where it takes none.
    var ticket: TicketTurn?
    /// The trailers of the request, as they are forwarded.
    var trailers: RequestFields?
    var caching: CacheTurn?
    /// Its place among those with its `Idempotency-Key`.
    var claim: KeyClaim?
    /// The answer that is being passed on, for those that have asked for the same.
    var sharing: AnswerSharing?
    /// The answer of the origin to an equal request, on its way to the client.
    var given: SharedAnswerSending?
    /// Who goes on with the request once it is a ticket that is not at rest.
    var successor: TicketExchange?
    /// The attempt that has its own connection and asks there for another protocol.
    var handshake: UpgradeHandshake?
    /// The answer in hand while `offering`.
    var offered: OfferedAnswer?
    /// The attempt that the end of its entry cut off: what it proves is still to be recorded.
    var aborted: (attempt: UpstreamAttempt, entry: EntryID)?
    /// Whether bytes of the request are still to come.
    var isReceivingRequest = true
    var hasSentContinue = false
    /// Whether the disk had no room for the body, and is to be tried again.
    var isWaitingForRoom = false
    var isClientGone = false
    /// Whether this first attempt is counted in the window of its origin.
    var isCountedAsFresh = false
    /// How the answer is framed for the client.
    var framing = AnswerFraming.none
    /// Whether the head of the answer announced the close (RFC 9112 section 9.6: then it must come).
    var saysClose = false
    /// Bytes written to a client that does not take them yet.
    var untakenByteCount = 0

    init(connection: ClientConnection, loop: ProxyLoop, head: RequestHead, plan: ForwardPlan) {
        self.connection = connection
        self.loop = loop
        request = plan.request
        machine = ExchangeMachine(for: .client, AttemptRules(policy: plan.policy))
        route = plan.route
        wish = plan.wish
        hasIdempotencyKey = plan.hasIdempotencyKey
        order = plan.order
        client = ClientFacts(head)
        self.head = head
        createdAt = loop.engine.clock.now()
        caching = CacheTurn(loop.cache, plan.request, plan.policy)
        if let wish = plan.ticket {
            ticket = TicketTurn(wish: wish, base: connection.ownBase(for: head), digest: plan.digest)
            if request.framing != .none { ticket?.tokens = TicketTokens(inBodyOf: request) }
        }
        if request.framing != .none { request.body = makeBody() }
    }

    var phase: ExchangePhase {
        get { machine.phase }
        set { machine.enter(newValue) }
    }
    var rules: AttemptRules {
        get { machine.rules }
        _modify { yield &machine.rules }
    }
    var lastFailure: Failure? { machine.lastFailure }
    var timeline: AttemptTimeline { machine.timeline }

    /// The first step: an attempt at once, unless there is something to be looked for.
    func begin() {
        if !looksForTokens() { beginLooking() }
    }

    /// An attempt at once, unless its key is to be looked for.
    func beginLooking() {
        if !looksForItsKey() { beginTrying() }
    }

    /// An attempt at once, unless its gate is shut.
    func beginTrying() {
        startTicketTimer()
        if caching != nil, looksInstead() { return }
        switch loop.notice(for: request.origin) {
        case nil:
            startAttempt(.arrival)
        case .watched where order.lane != nil && rules.policy.mode != .pass,
            .shut where rules.policy.mode != .pass:
            // Behind a shut gate, or maybe others of its lane: the engine says when it goes.
            if looksInCache(orElse: { self.park(failure: nil, parking: .init(delay: .zero, shutsGate: false)) }) { return }
            park(failure: nil, parking: .init(delay: .zero, shutsGate: false))
        case .shut where loop.isOffline:
            if looksInCache(orElse: { self.fail(Problem.offline) }) { return }
            fail(Problem.offline)
        case .watched, .shut:
            loop.engine.post(.freshUnderWay(request.origin, changedBy: 1))
            isCountedAsFresh = true
            startAttempt(.arrival)
        case .forgotten:
            startAttempt(.arrival)
        }
    }

    /// Takes from the head what people are shown, and gives it up.
    func takeUserAgent() -> String? {
        defer { head = nil }
        return head?.fields.string(.userAgent)
    }

    // MARK: Attempts

    func startAttempt(_ trigger: AttemptTrigger, onNewConnection: Bool = false) {
        guard let worker = loop.worker else { return fail(.stopping) }
        // The first one starts when the request is created; reading the clock again would cost time.
        let isFirst = rules.attemptCount == 0 && entry == nil
        let number = machine.startAttempt(trigger, at: isFirst ? createdAt : loop.engine.clock.now())
        let attempt = UpstreamAttempt(
            request: request, number: number, needsFreshConnection: onNewConnection,
            wantsConnectionFacts: entry != nil || rules.policy.retriesStatuses, receiver: self)
        self.attempt = attempt
        if caching != nil { caching?.requestedAt = loop.wallSeconds }
        loop.metrics.attemptCount.increment()
        worker.start(attempt)
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        if let successor { return successor.receive(event, of: attempt) }
        // A late word of an attempt that is not ours any more. A connection must not leak, though.
        guard attempt === self.attempt else { return receiveLate(event, of: attempt) }
        switch event {
        case .bodyWanted: sendContinue()
        case .interim(let head): passOn(interim: head)
        case .head(let head, let sendings): received(head, sendings: sendings)
        case .body, .end, .failed:
            if phase == .offering { offered?.rest.append(event) } else { receiveRest(event) }
        case .dialled(let socket): if request.purpose == .upgrade { shakeHands(on: socket) } else { dialled(socket) }
        }
    }

    func receiveRest(_ event: UpstreamEvent) {
        switch event {
        case .body(let bytes): received(bytes)
        case .end(let trailers): responseEnded(trailers: trailers)
        case .failed(let failure): attemptFailed(failure)
        case .bodyWanted, .interim, .head, .dialled: break
        }
    }

    private func receiveLate(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        switch event {
        case .dialled(let socket):
            socket.close()
        case .failed(let failure):
            guard let aborted, aborted.attempt === attempt else { return }
            self.aborted = nil
            record(nil, failure: failure)
            loop.engine.post(.evidence(aborted.entry, failure, takeTally()))
        case .bodyWanted, .interim, .head, .body, .end:
            break
        }
    }

    private func attemptFailed(_ failure: Failure) {
        attempt = nil
        endFresh()
        guard phase != .ended else {
            record(nil, failure: failure)
            return ended(as: .cancelled, failure: failure)
        }
        loop.metrics.failedAttemptCount.increment()
        if isLeftBehind { rules.isTicket = true }
        let step = machine.attemptFailed(
            failure, in: .init(request: summary, isNetworkAway: loop.isNetworkAway, now: loop.engine.clock.now()),
            using: &loop.generator)
        if caching?.isReadable == true, step.endsTheTry, RetryCondition.connectivity.matches(failure),
            looksInCache(orElse: { self.follow(step) })
        {
            return
        }
        follow(step)
    }

    private func follow(_ step: ExchangeMachine.FailureStep) {
        switch step {
        case .again(let trigger):
            startAttempt(trigger, onNewConnection: true)
        case .park(let failure, let parking):
            park(failure: failure, parking: parking)
        case .standIn(_, let failure) where request.purpose == .dial:
            // A 2xx to CONNECT would be taken for a tunnel (RFC 9110 section 9.3.6).
            fail(problem(failure, .exhausted))
        case .standIn(let response, _):
            standIn(response)
        case .fail(let failure, let reason):
            fail(problem(failure, reason))
        case .breakOff(let failure):
            responseBroke(failure)
        }
    }

    /// Writes the attempt that has ended into its timeline.
    func record(_ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil) {
        machine.record(
            verdict, failure: failure, status: status, connection: attempt?.connectionFacts, at: loop.engine.clock.now())
    }

    /// What the client is told of a failure.
    func problem(_ failure: Failure, _ reason: Verdict.FailReason) -> Problem {
        Problem(
            failure, reason: reason, attemptCount: rules.attemptCount, entry: entry.map(loop.engine.naming.shown),
            bodyByteCountMax: loop.rules.body.byteCountMax)
    }

    /// Takes the first attempt out of the window of its origin.
    func endFresh() {
        guard isCountedAsFresh else { return }
        isCountedAsFresh = false
        loop.engine.post(.freshUnderWay(request.origin, changedBy: -1))
    }

    /// The request in the eyes of the rules.
    var summary: RequestSummary {
        RequestSummary(
            Repeatability(
                request.purpose, method: request.method, hasIdempotencyKey: hasIdempotencyKey,
                isDeclared: rules.policy.repeatable),
            body: request.body?.summary ?? .none)
    }

    /// What the engine is told of the attempts, each record once.
    func takeTally() -> AttemptTally {
        let body = request.body?.summary ?? .none
        var tally = AttemptTally(
            attemptCount: rules.attemptCount, automaticLeft: rules.automaticLeft,
            isBodyReplayable: body == .none || body == .captured, records: machine.takeRecords())
        tally.counts = rules.counts
        return tally
    }

    // MARK: The end

    /// Tells the engine, if it knows this exchange.
    func ended(as state: EntryState, failure: Failure? = nil) {
        phase = .ended
        ticket?.timer?.cancel()
        ticket?.joinTimer?.cancel()
        defer { claim?.end(nil) }
        guard let entry else { return }
        self.entry = nil
        if ticket?.isAsked == true { loop.engine.post(.untold(entry)) }
        loop.engine.post(.ended(entry, state, failure, takeTally()))
    }

    /// Answers the client with a problem of our own.
    func fail(_ problem: Problem) {
        var problem = problem
        problem.entry = entry.map(loop.engine.naming.shown)
        problem.recall(rules.counts)
        answer(OwnResponse(problem, identity: loop.rules.identity))
        ended(as: .failed, failure: lastFailure)
    }

    /// Writes an answer of our own and lets go of the connection. The first claim wins.
    func answer(_ response: OwnResponse) {
        guard phase != .ended, phase != .delivering else { return }
        phase = .ended
        claim?.end(KeyOutcome(response))
        defer { loop.settled(self) }
        guard let connection else { return loop.metrics.ownResponseCount.increment() }
        connection.answer(response, to: client, isComplete: !isReceivingRequest)
    }
}
