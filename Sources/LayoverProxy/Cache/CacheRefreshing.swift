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
    private let request: UpstreamRequest
    private let refresh: CacheRefresh
    private let route: String?
    private let cache: any AnswerCache
    private let id: EntryID
    private var rules: Exchange
    private var timeline = AttemptTimeline()
    private var attempt: UpstreamAttempt?
    private var writer: (any AnswerWriter)?
    private var requestedAt = 0
    private var isDone = false

    init(
        loop: ProxyLoop, request: UpstreamRequest, refresh: CacheRefresh, policy: Policy, route: String?,
        cache: any AnswerCache
    ) {
        self.loop = loop
        self.request = request
        self.refresh = refresh
        self.route = route
        self.cache = cache
        var policy = policy
        // Nobody's patience ends, and nobody could be asked or be given anything else.
        policy.holdMax = policy.lifetime
        policy.onExhausted = .fail
        rules = Exchange(policy: policy)
        id = EntryID(using: &loop.generator)
    }

    /// Joins the pending set.
    ///
    /// - Parameter failure: What showed that the origin cannot be reached; nil where its gate was shut.
    func park(_ failure: Failure?) {
        let parking = Verdict.Parking(delay: .zero, shutsGate: failure?.shutsGate ?? false, rule: failure == nil ? .gate : .retryOn)
        let new = NewEntry(
            id: id, method: request.method, url: request.shownURL, origin: request.origin, route: route,
            policy: rules.policy,
            client: Entry.Client(address: "cache", isConnected: false, userAgent: nil),
            createdAt: loop.engine.clock.now(), isExposed: request.isExposed, failure: failure, parking: parking)
        loop.engine.post(.parked(new, self))
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        guard attempt === self.attempt else { return }
        switch event {
        case .head(let head, _): received(head)
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

    private func received(_ head: ResponseHead) {
        timeline.ended(
            at: loop.engine.clock.now(), .deliver(.answered), failure: nil, status: head.status,
            connection: attempt?.connectionFacts)
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
        let verdict = rules.verdict(
            on: failure, sending: RequestSummary(method: request.method), isNetworkAway: loop.isNetworkAway,
            using: &loop.generator)
        timeline.ended(
            at: loop.engine.clock.now(), verdict, failure: failure, status: nil, connection: nil)
        switch verdict {
        case .againOnNewConnection:
            rules.hasTriedNewConnection = true
            send(.dueTime, onNewConnection: true)
        case .park(let parking): loop.engine.post(.attemptFailed(id, failure, parking, tally()))
        case .deliver, .standIn, .fail: end(as: .failed, failure: failure)
        }
    }

    private func send(_ trigger: AttemptTrigger, onNewConnection: Bool) {
        guard let worker = loop.worker else { return end(as: .cancelled) }
        let number = rules.attemptStarted(trigger: trigger)
        requestedAt = loop.wallSeconds
        let attempt = UpstreamAttempt(
            request: request, number: number, needsFreshConnection: onNewConnection,
            wantsConnectionFacts: true, receiver: self)
        self.attempt = attempt
        timeline.began(number, trigger, at: loop.engine.clock.now())
        loop.metrics.attemptCount.increment()
        worker.start(attempt)
    }

    private func tally() -> AttemptTally {
        var tally = AttemptTally(
            attemptCount: rules.attemptCount, automaticLeft: rules.automaticLeft, isBodyReplayable: true,
            records: timeline.takeRecords())
        tally.counts = rules.counts
        return tally
    }

    private func end(as state: EntryState, failure: Failure? = nil) {
        finish()
        loop.engine.post(.ended(id, state, failure, tally()))
    }

    private func finish() {
        attempt = nil
        guard !isDone else { return }
        isDone = true
        cache.refreshEnded(refresh)
    }
}

extension CacheRefreshing: HeldExchange {
    func start(_ trigger: AttemptTrigger, isForced: Bool) {
        loop.eventLoop.execute {
            guard !self.isDone, self.attempt == nil else { return }
            self.rules.hasTriedNewConnection = false
            self.send(trigger, onNewConnection: trigger == .canary)
        }
    }

    func abandonConnecting() {
        loop.eventLoop.execute {
            guard let attempt = self.attempt else { return }
            self.rules.isAbandoned = true
            self.loop.worker?.cancelIfConnecting(attempt)
        }
    }

    func dropAnswer() {}
    func deliverAnswer(_ reason: Verdict.DeliverReason) {}
    func offerTicket() {}

    /// It asks for what is to be read, and sends nothing.
    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) {
        done(HeldBody(body: nil, fields: ByteBuffer()))
    }

    func end(_ end: EntryEnd, retryAfter: Duration?) { loop.eventLoop.execute { self.giveUp() } }
    func refuse(limit: String, value: Int) { loop.eventLoop.execute { self.giveUp() } }

    private func giveUp() {
        if let attempt { loop.worker?.cancel(attempt) }
        writer?.abandon()
        finish()
    }
}
