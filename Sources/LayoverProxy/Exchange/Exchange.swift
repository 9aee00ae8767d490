import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// One request and all that is done for it, on its event loop: the only class that upstream events and the engine's commands reach.
///
/// It performs what the core decides (`ExchangeMachine`); when a parked exchange goes is the engine's decision. The response goes to
/// the recipient: a client, the store or the cache. A request becomes a ticket by a change of the recipient. A ticket that waits in
/// the store has no exchange; each of its attempts gets one.
///
/// `@unchecked Sendable`: confined to the loop; calls from elsewhere hop there.
final class Exchange: UpstreamReceiver, @unchecked Sendable {
    let loop: ProxyLoop
    /// Without its body and its fields until they have been read from the store.
    var request: UpstreamRequest
    var machine: ExchangeMachine
    var recipient: Recipient
    /// A reload may change it.
    var route: String?
    let wish: PolicyWish
    let hasIdempotencyKey: Bool
    var order: OrderWish
    let createdAt: Timestamp
    /// The trailers of the request, as they are forwarded.
    var trailers: RequestFields?
    /// Its place in the pending set, once it has one.
    var entry: EntryID?
    /// The attempt under way.
    var attempt: UpstreamAttempt?
    /// The attempt under way that has its own connection and asks there for another protocol.
    var handshake: UpgradeHandshake?
    /// The response in hand while `offering`.
    var offered: OfferedAnswer?
    /// The attempt that the end of its entry cut off: what it proves is still to be recorded.
    var aborted: (attempt: UpstreamAttempt, entry: EntryID)?
    /// When the attempt under way began, in seconds since 1970, for the cache.
    private(set) var requestedAt = 0
    /// Nil where the client takes no ticket.
    var conversion: TicketConversion?
    /// Nil where no other request with the same `Idempotency-Key` is looked for.
    var keySearch: DuplicateKeySearch?
    /// Nil where the cache has nothing to do with it.
    var cacheUse: CacheUse?
    /// Makes the attempts of a ticket. Nil: the loop's own worker does.
    private var ticketWorker: (any UpstreamWorker)?
    /// The record of the attempt under way; nil where none is needed.
    private(set) var startRecord: StartRecord?
    /// Whether no preflight is sent, whatever the policy says.
    private let skipsPreflight: Bool
    /// Whether the disk had no room for the body, and is to be tried again.
    var isWaitingForRoom = false
    /// Whether this first attempt is counted in the window of its origin.
    var isCountedAsFresh = false

    /// A request that a client sends.
    init(_ client: ClientRecipient, loop: ProxyLoop, plan: ForwardPlan, base: @autoclosure () -> String) {
        self.loop = loop
        request = plan.request
        machine = ExchangeMachine(
            for: .client, AttemptRules(policy: plan.policy), phase: .collecting(for: plan.isAcceptedAtOnce ? .ticket : .attempt))
        recipient = .client(client)
        route = plan.route
        wish = plan.wish
        hasIdempotencyKey = plan.hasIdempotencyKey
        order = plan.order
        createdAt = loop.engine.clock.now()
        skipsPreflight = false
        cacheUse = CacheUse(loop.cache, plan.request, plan.policy)
        if let wish = plan.ticket {
            conversion = TicketConversion(of: self, wish, base: base(), plan.digest, isAtOnce: plan.isAcceptedAtOnce)
        }
        if request.framing != .none { request.body = makeBody() }
    }

    /// One attempt of a ticket, whose request is in the store.
    init(loop: ProxyLoop, replay: TicketReplay) {
        self.loop = loop
        request = UpstreamRequest(
            purpose: .transfer, origin: replay.origin, method: replay.method, target: "", host: "", fields: [:],
            mayBeSentTwice: false)
        machine = ExchangeMachine(
            for: .store, AttemptRules(policy: replay.policy, counts: replay.counts, isTicket: true), phase: .parked)
        recipient = .store(StoreRecipient(isStored: true))
        route = replay.route
        wish = replay.wish
        hasIdempotencyKey = replay.hasIdempotencyKey
        order = OrderWish()
        createdAt = loop.engine.clock.now()
        entry = replay.id
        skipsPreflight = replay.skipsPreflight
        loop.opened(self)
    }

    /// A request of the proxy itself that renews what is in the cache. It is an entry of the pending set like any other, so that
    /// people see it, pacing counts it, and it can be cancelled. It is not stored: after a restart the next reader asks again.
    init(_ cache: CacheRecipient, loop: ProxyLoop, request: UpstreamRequest, policy: Policy, route: String?, wish: PolicyWish) {
        self.loop = loop
        self.request = request
        machine = ExchangeMachine(for: .cache, AttemptRules(policy: CacheRecipient.policy(policy)))
        recipient = .cache(cache)
        self.route = route
        self.wish = wish
        hasIdempotencyKey = false
        order = OrderWish()
        createdAt = loop.engine.clock.now()
        skipsPreflight = true
        loop.opened(self)
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
    var client: ClientRecipient? { if case .client(let client) = recipient { client } else { nil } }
    var store: StoreRecipient? { if case .store(let store) = recipient { store } else { nil } }
    var connection: ClientConnection? { client?.connection }
    /// Whether bytes of the request are still to come.
    var isReceivingRequest: Bool { client?.isReceivingRequest ?? false }

    /// When the attempt under way began, and now.
    var cacheTimes: CacheTimes { CacheTimes(requestedAt: requestedAt, answeredAt: loop.wallSeconds) }

    // MARK: Attempts

    /// Begins the next attempt, unless a reload has taken back that the request may be sent twice, and the engine had not heard of
    /// that yet.
    func begin(_ trigger: AttemptTrigger, isForced: Bool) {
        guard isForced || rules.mayBeSent(summary) else { return refuseToSend() }
        rules.hasTriedNewConnection = false
        if let preflight = rules.policy.preflight, case .store = recipient, !skipsPreflight {
            startPreflight(preflight, trigger)
        } else {
            // A kept-alive connection from before the trouble would prove nothing, and could hang.
            startAttempt(trigger, onNewConnection: trigger == .canary)
        }
    }

    /// - Parameter counted: The number under which it was counted already; nil: it is counted now.
    func startAttempt(_ trigger: AttemptTrigger, onNewConnection: Bool = false, counted: Int? = nil) {
        guard let worker = nextWorker() else { return couldNotStart() }
        // The first one starts when the request is created; reading the clock again would cost time.
        let isFirst = rules.attemptCount == 0 && entry == nil
        let number = counted ?? machine.startAttempt(trigger, at: isFirst ? createdAt : loop.engine.clock.now())
        startRecord = store?.isStored == true ? entry.map { StartRecord(engine: loop.engine, id: $0) } : nil
        start(
            UpstreamAttempt(
                request: request, number: number, needsFreshConnection: onNewConnection,
                wantsConnectionFacts: entry != nil || rules.policy.retriesStatuses,
                // mutant: unmarked
                beforeSending: startRecord?.closure(for: rules.counts, by: self), receiver: self),
            by: worker)
        loop.metrics.attemptCount.increment()
    }

    /// Asks the origin first whether the request makes sense.
    private func startPreflight(_ preflight: Preflight, _ trigger: AttemptTrigger) {
        guard let worker = nextWorker() else { return couldNotStart() }
        let number = machine.startPreflight(trigger, at: loop.engine.clock.now())
        start(
            UpstreamAttempt(
                request: request.preflight(preflight.method), number: number, needsFreshConnection: trigger == .canary,
                wantsConnectionFacts: true, receiver: self),
            by: worker)
    }

    private func start(_ attempt: UpstreamAttempt, by worker: any UpstreamWorker) {
        self.attempt = attempt
        if cacheUse != nil || machine.recipient == .cache { requestedAt = loop.wallSeconds }
        worker.start(attempt)
    }

    private func nextWorker() -> (any UpstreamWorker)? {
        guard case .store = recipient else { return loop.worker }
        ticketWorker = loop.ticketWorker()
        return ticketWorker
    }

    private var worker: (any UpstreamWorker)? { ticketWorker ?? loop.worker }

    /// Aborts the attempt under way. Its last event is a late one.
    func cancelAttempt() {
        if let handshake {
            handshake.cancel()
        } else if let attempt {
            worker?.cancel(attempt)
        }
        handshake = nil
        attempt = nil
        endFresh()
    }

    /// Aborts an attempt that may be hanging on a network that is gone. Its verdict makes another.
    func abandonIfConnecting() {
        guard let attempt, handshake == nil, phase == .attempting || phase == .preflight else { return }
        if let client, rules.policy.mode == .pass || client.connection?.isInputClosed != false { return }
        rules.isAbandoned = true
        worker?.cancelIfConnecting(attempt)
    }

    /// Takes the first attempt out of the window of its origin.
    func endFresh() {
        guard isCountedAsFresh else { return }
        isCountedAsFresh = false
        loop.engine.post(.freshUnderWay(request.origin, changedBy: -1))
    }

    // MARK: Upstream events

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        // An attempt that is not ours any more. A connection must not leak, though.
        guard attempt === self.attempt else { return receiveLate(event, of: attempt) }
        if phase == .preflight { return receivePreflight(event) }
        switch event {
        case .bodyWanted: client?.sendContinue(in: phase)
        case .interim(let head): client?.passOn(interim: head, in: phase)
        case .head(let head, let sendings): received(head, sendings: sendings)
        case .body, .end, .failed:
            if phase == .offering { offered?.rest.append(event) } else { receiveRest(event) }
        case .dialled(let socket):
            guard let client else { return socket.close() }
            client.dialled(socket, by: self)
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
        case .dialled(let socket): socket.close()
        case .failed(let failure):
            guard let aborted, aborted.attempt === attempt else { return }
            self.aborted = nil
            record(nil, failure: failure)
            loop.engine.post(.evidence(aborted.entry, failure, takeTally()))
        case .bodyWanted, .interim, .head, .body, .end: break
        }
    }

    /// Bytes that the worker may be ahead of the recipient when it goes on after a pause. Default: 128 KiB.
    private static let resumeBelow = 128 << 10

    /// The recipient has taken so many bytes of the response.
    func taken(_ count: Int) {
        guard let attempt, count > 0 else { return }
        let left = attempt.bytesOutstanding.subtract(count, ordering: .acquiringAndReleasing).newValue
        if left < Self.resumeBelow, attempt.isReceivingPaused.load(ordering: .acquiring) { worker?.resumeReceiving(attempt) }
    }

    // MARK: What is known of the attempts

    /// Writes the attempt that has ended into its timeline.
    func record(_ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil) {
        machine.record(
            verdict, failure: failure, status: status, connection: attempt?.connectionFacts, at: loop.engine.clock.now())
    }

    /// The request in the eyes of the rules.
    var summary: RequestSummary {
        RequestSummary(
            Repeatability(
                request.purpose, method: request.method, hasIdempotencyKey: hasIdempotencyKey,
                isDeclared: rules.policy.repeatable),
            body: bodySummary)
    }

    /// What is in the store can be sent as often as it takes; before that it is what was captured.
    private var bodySummary: RequestSummary.Body {
        // mutant: head-without-body.2
        guard let body = request.body else { return .none }
        return store?.isStored == true ? .captured : body.summary
    }

    /// What the engine is told of the attempts, each record once.
    func takeTally() -> AttemptTally {
        let body = bodySummary
        var tally = AttemptTally(
            attemptCount: rules.attemptCount, automaticLeft: rules.automaticLeft,
            isBodyReplayable: body == .none || body == .captured, records: machine.takeRecords())
        tally.counts = rules.counts
        return tally
    }
}
