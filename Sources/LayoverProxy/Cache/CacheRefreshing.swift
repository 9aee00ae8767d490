import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// A request that nobody waits for: it brings the cache up to date once its origin can be reached.
///
/// An entry of the pending set like any other, so people see it, pacing counts it, and it can be given up. It is not
/// stored: after a restart the next reader asks again. Confined to its loop; the engine's calls hop there.
///
/// `@unchecked Sendable`: see above.
final class CacheRefreshing: UpstreamReceiver, @unchecked Sendable {
    private let loop: ProxyLoop
    private var request: UpstreamRequest
    private let refresh: CacheRefresh
    /// A reload may change it.
    private var route: String?
    private let wish: PolicyWish
    private let cache: any AnswerCache
    private let id: EntryID
    private var machine: ExchangeMachine
    private var attempt: UpstreamAttempt?
    private var writer: (any AnswerWriter)?
    private var requestedAt = 0

    init(
        loop: ProxyLoop, request: UpstreamRequest, refresh: CacheRefresh, policy: Policy, route: String?, wish: PolicyWish,
        cache: any AnswerCache
    ) {
        self.loop = loop
        self.request = request
        self.refresh = refresh
        self.route = route
        self.wish = wish
        self.cache = cache
        machine = ExchangeMachine(for: .cache, AttemptRules(policy: Self.patient(policy)))
        id = EntryID(using: &loop.generator)
        loop.opened(self)
    }

    /// Nobody's patience ends, and nobody could be asked or be given anything else.
    private static func patient(_ policy: Policy) -> Policy {
        var policy = policy
        policy.holdMax = policy.lifetime
        policy.onExhausted = .fail
        return policy
    }

    /// Joins the pending set.
    ///
    /// - Parameter failure: What showed that the origin cannot be reached; nil where its gate was shut.
    func park(_ failure: Failure?) {
        let parking = Verdict.Parking(delay: .zero, shutsGate: failure?.shutsGate ?? false, rule: failure == nil ? .gate : .retryOn)
        let new = NewEntry(
            id: id, method: request.method, url: request.shownURL, origin: request.origin, route: route,
            policy: machine.rules.policy,
            client: Entry.Client(address: "cache", isConnected: false, userAgent: nil),
            createdAt: loop.engine.clock.now(), isExposed: request.isExposed, failure: failure, parking: parking)
        machine.enter(.parked)
        loop.engine.post(.parked(new, self))
    }

    /// Finds its route in a configuration that was read anew. What is under way goes on.
    func reroute() {
        let found = loop.planner.reroute(request, by: route, wish: wish)
        request.takeFields(of: found.route.flatMap { loop.rules.routes.route(named: $0) })
        let policy = Self.patient(found.policy)
        guard found.route != route || policy != machine.rules.policy else { return }
        route = found.route
        machine.rules.policy = policy
        loop.engine.post(.rerouted(id, route: route, policy, automaticLeft: machine.rules.automaticLeft))
    }

    // MARK: Attempts

    private func send(_ trigger: AttemptTrigger, onNewConnection: Bool) {
        guard let worker = loop.worker else { return end(as: .cancelled) }
        let number = machine.startAttempt(trigger, at: loop.engine.clock.now())
        requestedAt = loop.wallSeconds
        let attempt = UpstreamAttempt(
            request: request, number: number, needsFreshConnection: onNewConnection,
            wantsConnectionFacts: true, receiver: self)
        self.attempt = attempt
        loop.metrics.attemptCount.increment()
        worker.start(attempt)
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        guard attempt === self.attempt else {
            if case .dialled(let socket) = event { socket.close() }
            return
        }
        switch event {
        case .head(let head, let sendings): received(head, sendings: sendings)
        case .body(let bytes):
            writer?.append(bytes)
            took(bytes.readableBytes)
        case .end:
            writer?.commit()
            end(as: .delivered)
        case .failed(let failure): failed(failure)
        case .dialled(let socket): socket.close()
        case .bodyWanted, .interim: break
        }
    }

    /// The cache says by the status what becomes of the answer, so none is asked for again.
    private func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { machine.rules.sentAgainWithinAttempt(sendings - 1) }
        machine.record(
            .deliver(.answered), status: head.status, connection: attempt?.connectionFacts, at: loop.engine.clock.now())
        machine.enter(.delivering)
        loop.engine.post(.answered(id, tally()))
        writer = cache.answered(
            head, to: refresh.request, at: CacheTimes(requestedAt: requestedAt, answeredAt: loop.wallSeconds))
    }

    private func took(_ count: Int) {
        guard let attempt else { return }
        _ = attempt.bytesOutstanding.subtract(count, ordering: .acquiringAndReleasing)
        if attempt.isReceivingPaused.load(ordering: .acquiring) { loop.worker?.resumeReceiving(attempt) }
    }

    private func failed(_ failure: Failure) {
        attempt = nil
        writer?.abandon()
        writer = nil
        loop.metrics.failedAttemptCount.increment()
        let step = machine.attemptFailed(
            failure,
            in: .init(
                request: RequestSummary(Repeatability(method: request.method)), isNetworkAway: loop.isNetworkAway,
                now: loop.engine.clock.now()),
            using: &loop.generator)
        switch step {
        case .again(let trigger): send(trigger, onNewConnection: true)
        case .park(let failure, let parking):
            machine.enter(.parked)
            loop.engine.post(.attemptFailed(id, failure, parking, tally()))
        case .standIn(_, let failure), .fail(let failure, _), .breakOff(let failure): end(as: .failed, failure: failure)
        }
    }

    private func tally() -> AttemptTally {
        var tally = AttemptTally(
            attemptCount: machine.rules.attemptCount, automaticLeft: machine.rules.automaticLeft, isBodyReplayable: true,
            records: machine.takeRecords())
        tally.counts = machine.rules.counts
        return tally
    }

    // MARK: The end

    private func end(as state: EntryState, failure: Failure? = nil) {
        finish()
        loop.engine.post(.ended(id, state, failure, tally()))
    }

    private func finish() {
        attempt = nil
        guard machine.phase != .ended else { return }
        machine.enter(.ended)
        loop.closed(self)
        cache.refreshEnded(refresh)
    }
}

extension CacheRefreshing: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            guard self.machine.phase == .parked else { return }
            self.machine.rules.hasTriedNewConnection = false
            self.send(trigger, onNewConnection: trigger == .canary)
        }
    }

    func abandonConnecting() {
        loop.eventLoop.execute {
            guard let attempt = self.attempt else { return }
            self.machine.rules.isAbandoned = true
            self.loop.worker?.cancelIfConnecting(attempt)
        }
    }

    func dropAnswer() {}
    func deliverAnswer(_ reason: Verdict.DeliverReason) {}
    func offerTicket() {}

    /// It asks for what is to be read, and sends nothing.
    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        done(HeldBody(body: nil, fields: [:]))
    }

    func end(_ end: EntryEnd, retryAfter: Duration?) { loop.eventLoop.execute { self.giveUp() } }
    func refuse(limit: String, value: Int) { loop.eventLoop.execute { self.giveUp() } }

    private func giveUp() {
        if let attempt { loop.worker?.cancel(attempt) }
        writer?.abandon()
        finish()
    }
}
