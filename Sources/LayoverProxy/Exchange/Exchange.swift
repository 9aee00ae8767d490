import LayoverCore
import LayoverEngine
import LayoverHTTP
import Logging
import NIOCore
import Synchronization

/// One request and all that is done for it, on its event loop: the only class that upstream events and the engine's commands reach.
///
/// It performs what the core decides (`ExchangeMachine`); when a parked exchange goes is the engine's decision. The response goes to
/// the recipient: a client, the store or the cache. A request becomes a ticket by a change of the recipient. A ticket that waits in
/// the store has no exchange; each of its attempts gets one.
///
/// `@unchecked Sendable`: confined to the loop; calls from elsewhere switch to it.
final class Exchange: UpstreamReceiver, @unchecked Sendable {
    let loop: ProxyLoop
    /// Without its body and its fields until they have been read from the store.
    private(set) var request: UpstreamRequest
    /// Told of facts by methods of the exchange alone, each of which performs the step that follows (`scripts/house/ports.py`).
    var machine: ExchangeMachine
    private(set) var recipient: Recipient
    let run: AttemptRun
    /// A reload may change it.
    private(set) var route: String?
    /// `RouteTable.number` of the table in which its route was found.
    private(set) var routesNumber: Int
    let wish: PolicyWish
    let hasIdempotencyKey: Bool
    private(set) var order: OrderWish
    let createdAt: Timestamp
    /// The trailers of the request, as they are forwarded.
    private(set) var trailers: RequestFields?
    /// The exchange's place in the pending set, once it has one.
    private(set) var entry: EntryID?
    /// The response in hand while `withholding`.
    private(set) var withheld: WithheldResponse?
    /// Nil: the client takes no ticket.
    private(set) var conversion: TicketConversion?
    /// Nil where no other request with the same `Idempotency-Key` is looked for.
    private(set) var keySearch: DuplicateKeySearch?
    /// Nil where the cache has nothing to do with it.
    private(set) var cacheUse: CacheUse?
    /// Tickets only: the routes of a reload that came while the request was read. Nil: none came.
    @Boxed private(set) var routesWhileReading: RouteTable?
    /// Whether no preflight is sent, whatever the policy says.
    private let skipsPreflight: Bool

    /// - Parameters:
    ///   - routesNumber: `RouteTable.number` of the table in which its route was found. Nil: the one of its loop.
    ///   - entry: Its place in the pending set, where it has one already.
    init(
        loop: ProxyLoop, _ request: consuming UpstreamRequest, _ machine: consuming ExchangeMachine, for recipient: Recipient,
        route: String?, routesNumber: Int? = nil, wish: PolicyWish, hasIdempotencyKey: Bool = false, order: OrderWish = OrderWish(),
        entry: EntryID? = nil, skipsPreflight: Bool = false
    ) {
        self.loop = loop
        self.request = request
        self.machine = machine
        self.recipient = recipient
        run = AttemptRun(loop: loop)
        self.route = route
        self.routesNumber = routesNumber ?? loop.configuration.routes.number
        self.wish = wish
        self.hasIdempotencyKey = hasIdempotencyKey
        self.order = order
        createdAt = loop.engine.clock.now()
        self.entry = entry
        self.skipsPreflight = skipsPreflight
    }

    /// The exchange of a client, whose request has begun to arrive.
    ///
    /// - Parameter isConnected: Whether the client has its 200 for CONNECT already.
    convenience init(_ plan: ForwardPlan, _ head: RequestHead, of connection: ClientConnection, isConnected: Bool = false) {
        self.init(
            loop: connection.loop, plan.request,
            ExchangeMachine(
                for: .client, AttemptRules(policy: plan.policy),
                phase: .collecting(for: plan.isAcceptedAtOnce ? .ticket : .attempt), ticket: plan.ticketMoment),
            for: .client(ClientRecipient(connection, head: head, plan: plan, isConnected: isConnected)), route: plan.route,
            routesNumber: plan.routesNumber, wish: plan.wish, hasIdempotencyKey: plan.hasIdempotencyKey, order: plan.order)
        if let cache = loop.cache { cacheUse = CacheUse(cache, plan.request, plan.policy) }
        if let wish = plan.ticket {
            conversion = TicketConversion(of: self, wish, base: connection.ownBase(for: head), plan.digest)
        }
        if plan.request.framing != .none { request.body = makeBody() }
        // A body with a length of zero is complete.
        if !head.framing.hasBody { request.body?.finish() }
    }

    /// The exchange of a ticket, whose request is being read.
    convenience init(of replay: TicketReplay, on loop: ProxyLoop) {
        self.init(
            loop: loop, replay.unreadRequest,
            ExchangeMachine(for: .store(.stored), AttemptRules(policy: replay.policy, counts: replay.counts), phase: .loading),
            for: .store(StoreRecipient()), route: replay.route, routesNumber: replay.routes.number, wish: replay.ticket.wish,
            hasIdempotencyKey: replay.request.hasIdempotencyKey, entry: replay.id, skipsPreflight: replay.skipsPreflight)
    }

    var phase: ExchangePhase { machine.phase }
    var attempt: UpstreamAttempt? { run.attempt }
    /// What the loop knows of its origin and its parent proxy. Asked first whether there is anything: passing the request copies it.
    var notice: OriginNotice? { loop.network.isQuiet ? nil : loop.network.notice(for: request) }
    var client: ClientRecipient? { if case .client(let client) = recipient { client } else { nil } }
    var store: StoreRecipient? { if case .store(let store) = recipient { store } else { nil } }

    // MARK: What it has

    /// The exchange has a place in the pending set from now on.
    func joined(as id: EntryID) {
        entry = id
        guard loop.accessLog != nil, let record = client?.connection?.access else { return }
        record.isParked = true
        record.entry = loop.engine.naming.shown(id)
    }

    func forgetEntry() { entry = nil }

    /// Keeps a response in hand while `withholding`.
    func withhold(_ response: WithheldResponse) {
        machine.responseIsWithheld()
        withheld = response
    }

    func withhold(_ event: UpstreamEvent) { withheld?.rest.append(event) }

    func forgetWithheld() { withheld = nil }

    /// - Parameter trailers: Those that are forwarded.
    func bodyIsComplete(with trailers: RequestFields?) {
        self.trailers = trailers
        request.body?.finish(trailers: trailers)
    }

    /// Others with its key are looked for from now on.
    func isSearched(by search: DuplicateKeySearch) { keySearch = search }

    /// The request may become a ticket although its client asked for none.
    func mayBecomeTicket() { if conversion == nil { conversion = TicketConversion(of: self, nil, base: "", nil) } }

    /// The store gets the response from now on. The attempt under way goes on.
    func convert(_ storing: ExchangeMachine.Storing) {
        guard entry != nil, client != nil else { return }
        recipient = .store(StoreRecipient())
        machine.becomeTicket(storing)
        conversion?.stopTimers()
        loop.opened(self)
    }

    /// The request of a ticket, with its body, has come from the store. The attempt begins through the parent proxy that the engine knows
    /// of. Later ones go through the one that a reload named while the request was read.
    func requestWasRead(_ result: TicketReading.Result, for replay: TicketReplay) {
        guard phase == .loading else { return }
        switch result {
        case .ready(let stored, let body):
            // The engine may have found another route for it since the attempt was planned.
            let found = route.flatMap { (routesWhileReading ?? replay.routes).route(named: $0) }
            guard let request = replay.request(stored, body, by: found, on: loop) else {
                return ended(as: .failed, failure: .webhookGone)
            }
            self.request = request
            self.request.mayBeSentTwice = summary.mayBeSentTwice
            begin(replay.trigger, isForced: replay.isForced)
            guard let routes = routesWhileReading else { return }
            routesWhileReading = nil
            self.request.parentProxy = routes.parentProxy(for: request.origin, route: route)
        case .unreadable(let failure): couldNotStart(failure)
        case .rejected(let failure):
            loop.logger.warning(
                "ticket cannot be sent; a person must decide",
                metadata: [
                    "ticket": "\(loop.engine.naming.shown(replay.id))", "reason": "\(MaskedTicketIDs.text(failure.message))",
                ])
            refusedToSend(.rejected, failure)
        }
    }

    /// Takes the head in which tokens are replaced by the facts of tickets that they name, and goes on to the ticket. The body has its own
    /// replacement.
    func take(_ replaced: TicketConversion.Replaced) {
        guard phase == .collecting(for: .ticket) else { return }
        switch replaced {
        case .failed(let problem): return failUnsent(problem)
        case .found(let found):
            let body = request.body
            request = found.request
            request.body = body
            for parent in found.parents where !order.after.contains(parent) { order.after.append(parent) }
        }
        // An equal request may be on its way already, of a client that waits for the response first. The store is asked for the key too,
        // before it takes the ticket: while it has one, others that come are compared with that one.
        if let digest = conversion?.digest { findDuplicate(digest) } else { acceptAtOnce() }
    }

    /// The wishes of its client are met as they are: the origin does not hear of them.
    func removeHonouredPreferences() { request.fields.removeHonouredPreferences() }

    /// The body is only to be compared, so nothing of it need be kept.
    func dropBody() {
        request.body?.breakOff()
        request.body = nil
    }

    /// Looks up the route after a reload, while the engine does not know the request: the routes of entries the engine finds (`rerouted`).
    /// Nothing follows an attempt without a client.
    func reroute() {
        guard entry == nil, !phase.isUnattended else { return }
        let routes = loop.configuration.routes
        let path = request.purpose == .dial ? "/" : request.target
        let found = routes.foundRoute(origin: request.origin, path: path, method: request.method, route: route, wish: wish)
        take(found.route, found.policy, in: routes)
    }

    /// The request has this route and this policy from now on. The attempt under way goes on as it began.
    func take(_ newRoute: String?, _ policy: Policy, in routes: RouteTable) {
        guard !phase.isUnattended, !phase.isEnded else { return }
        routesNumber = routes.number
        guard phase != .loading else {
            routesWhileReading = routes
            route = newRoute
            return machine.policyChanged(to: policy)
        }
        request.takeFields(of: newRoute.flatMap { routes.route(named: $0) })
        let parentProxy = routes.parentProxy(for: request.origin, route: newRoute)
        guard newRoute != route || policy != machine.attempts.policy || parentProxy != request.parentProxy else { return }
        request.parentProxy = parentProxy
        route = newRoute
        machine.policyChanged(to: policy)
        request.mayBeSentTwice = summary.mayBeSentTwice
    }

    // MARK: Attempts

    /// Begins the next attempt, unless its request must not be sent now.
    func begin(_ trigger: AttemptTrigger, isForced: Bool) {
        let step = machine.turnCame(
            isForced: isForced, isOffline: loop.network.isOffline, skipsPreflight: skipsPreflight, sending: summary,
            using: &loop.generator)
        switch step {
        case .park(let failure, let parking): park(failure, parking)
        case .refuse: refuseToSend()
        case .preflight(let preflight): startPreflight(preflight, trigger)
        // A kept-alive connection from before the trouble would prove nothing, and could hang.
        case .attempt: startAttempt(trigger, onNewConnection: trigger == .canary)
        }
    }

    /// - Parameters:
    ///   - counted: The number under which the attempt was counted already; nil: it is counted now.
    ///   - isSameForEngine: Whether the engine takes it for the attempt before, and what it proves for evidence about that parent proxy.
    func startAttempt(
        _ trigger: AttemptTrigger, onNewConnection: Bool = false, counted: Int? = nil, isSameForEngine: Bool = false
    ) {
        guard let worker = run.chooseWorker(for: machine.holder) else { return couldNotStart() }
        // The first one starts when the request is created; reading the clock again would cost time.
        let isFirst = machine.attempts.attemptCount == 0 && entry == nil
        let startedAt = isFirst ? createdAt : loop.engine.clock.now()
        let number = counted ?? machine.startAttempt(trigger, at: startedAt)
        let connection = client?.connection
        if loop.accessLog != nil { connection?.access?.attemptedAt = startedAt }
        let stored = machine.holder.isStored ? entry : nil
        // mutant: unmarked
        let permit = stored.map { run.recordStart(of: $0, machine.attempts.counts, by: self) }
        // That the connection of a replay stands is evidence for others that wait for the same origin.
        let connected = entry.map { [engine = loop.engine] id in
            { @Sendable (answer: @Sendable (Bool) -> Void) in
                engine.post(AttemptConnected(id))
                answer(true)
            }
        }
        loop.metrics.attemptCount.increment()
        var sent = machine.resumable.map(request.forTheRest(of:)) ?? request
        // A reload may have named another one since.
        if isSameForEngine, entry != nil { sent.parentProxy = run.parentProxy }
        let attempt = UpstreamAttempt(
            request: sent, number: number, needsFreshConnection: onNewConnection,
            wantsConnectionFacts: entry != nil || machine.attempts.policy.retryOn.hasStatus,
            permit: permit ?? connected, client: connection?.clientNumber, receiver: self)
        if client?.isStream == true, connection != nil { attempt.bytesOutstandingMax = 0 }
        // A client that does not take the part before slows the rest down, whichever attempt brought it.
        if machine.resumable != nil, let client {
            attempt.bytesOutstanding.add(client.untakenByteCount, ordering: .relaxed)
        }
        run.start(attempt, by: worker, isTimed: cacheUse != nil || machine.holder.isCache, isShown: entry != nil)
        machine.attemptGoes(by: attempt.path)
    }

    /// Asks the origin first whether the request makes sense. Counts as the attempt that it precedes: if it fails, so has the
    /// attempt, and nothing was sent.
    private func startPreflight(_ preflight: Preflight, _ trigger: AttemptTrigger) {
        guard let worker = run.chooseWorker(for: machine.holder) else { return couldNotStart() }
        let number = machine.startPreflight(trigger, at: loop.engine.clock.now())
        let attempt = UpstreamAttempt(
            request: request.preflight(preflight.method), number: number, needsFreshConnection: trigger == .canary,
            wantsConnectionFacts: true, receiver: self)
        run.start(attempt, by: worker, isTimed: false, isShown: entry != nil)
        machine.attemptGoes(by: attempt.path)
    }

    /// Writes the attempt that has ended into its timeline.
    func record(_ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil) {
        machine.record(
            verdict, failure: failure, status: status, connection: attempt?.connectionFacts, at: loop.engine.clock.now())
    }

    /// What the engine is told of the attempts, each record once.
    func takeTally() -> AttemptTally {
        let body = summary.body
        return AttemptTally(
            machine.attempts.counts, automaticLeft: machine.attempts.automaticLeft,
            isBodyReplayable: body == .none || body == .captured, records: machine.takeRecords(), resume: machine.resumable?.progress)
    }

    /// Facts of the request that the rules of attempts ask for.
    var summary: RequestSummary {
        RequestSummary(
            Repeatability(
                request.purpose, method: request.method, hasIdempotencyKey: hasIdempotencyKey,
                isDeclared: machine.attempts.policy.repeatable),
            body: bodySummary)
    }

    /// The state of the body: one in the store can be sent as often as it takes; before that the captured body decides.
    private var bodySummary: RequestSummary.Body {
        // mutant: head-without-body.2
        guard let body = request.body else { return .none }
        return machine.holder.isStored ? .captured : body.summary
    }
}

/// Matching in place: `==` of an enum with data in its cases is a call into another module, and the fast path asks often.
extension ExchangePhase {
    var isPreflight: Bool { if case .preflight = self { true } else { false } }
    var isAttempting: Bool { if case .attempting = self { true } else { false } }
    var isWithholding: Bool { if case .withholding = self { true } else { false } }
    var isParked: Bool { if case .parked = self { true } else { false } }
    var isDelivering: Bool { if case .delivering = self { true } else { false } }
    var isUnattended: Bool { if case .unattended = self { true } else { false } }
    var isEnded: Bool { if case .ended = self { true } else { false } }
}

extension ExchangeMachine.Holder {
    var isCache: Bool { if case .cache = self { true } else { false } }
    /// Whether the store has the request.
    var isStored: Bool { if case .store(.stored) = self { true } else { false } }
}
