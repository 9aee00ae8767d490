import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The attempts of a ticket: as a `ProxyExchange` makes them, but for nobody who waits on a connection.
///
/// It lives for one attempt. Its request comes from the store, or from the exchange that it takes over from; its
/// answer goes to the store. Confined to its loop; the engine's calls hop there.
///
/// `@unchecked Sendable`: see above.
final class TicketExchange: UpstreamReceiver, @unchecked Sendable {
    let loop: ProxyLoop
    let id: EntryID
    let hasIdempotencyKey: Bool
    let wish: PolicyWish
    /// What the attempt is marked with on disk; nil for one that was under way before it was a ticket.
    let mark: AttemptMark?
    /// Whether the origin is not asked first, whatever the policy says.
    let skipsPreflight: Bool
    var machine: ExchangeMachine
    /// A reload may change it.
    var route: String?
    var request: UpstreamRequest?
    var attempt: UpstreamAttempt?
    /// Whether its request is in the store, so that its next attempt can do without us.
    var isStored = true
    /// The worker that makes the attempt.
    var worker: (any UpstreamWorker)?
    var offered: OfferedAnswer?
    /// The attempt that the end of its entry cut off: what it proves is still to be recorded.
    var aborted: UpstreamAttempt?
    /// Not nil where the exchange before us has reserved its `Idempotency-Key`, until the ticket is on disk.
    var claim: KeyClaim?
    /// Whether the store has not taken it as a ticket, and will not.
    var wasRefused = false
    /// The answer that is being kept.
    var answer: AnswerCapture?

    init(
        loop: ProxyLoop, id: EntryID, machine: ExchangeMachine, route: String?, wish: PolicyWish, hasIdempotencyKey: Bool,
        mark: AttemptMark?, skipsPreflight: Bool = false
    ) {
        self.loop = loop
        self.id = id
        self.machine = machine
        self.route = route
        self.wish = wish
        self.hasIdempotencyKey = hasIdempotencyKey
        self.mark = mark
        self.skipsPreflight = skipsPreflight
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
    var timeline: AttemptTimeline { machine.timeline }

    // MARK: Attempts

    /// - Parameter number: What it was counted as already; nil: it is counted now.
    func startAttempt(_ trigger: AttemptTrigger, onNewConnection: Bool = false, number: Int? = nil) {
        guard let request, let worker = loop.ticketWorker() else { return unready(.stopping) }
        self.worker = worker
        let number = number ?? machine.startAttempt(trigger, at: loop.engine.clock.now())
        let attempt = UpstreamAttempt(
            request: request, number: number, needsFreshConnection: onNewConnection,
            // mutant: unmarked
            wantsConnectionFacts: true, beforeSending: mark?.closure(for: rules.counts, by: self), receiver: self)
        self.attempt = attempt
        loop.metrics.attemptCount.increment()
        worker.start(attempt)
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        guard attempt === self.attempt else { return receiveLate(event, of: attempt) }
        if phase == .preflight { return receivePreflight(event) }
        switch event {
        case .bodyWanted, .interim: break
        case .head(let head, let sendings): received(head, sendings: sendings)
        case .body, .end, .failed:
            if phase == .offering { offered?.rest.append(event) } else { receiveRest(event) }
        case .dialled(let socket): socket.close()
        }
    }

    func receiveRest(_ event: UpstreamEvent) {
        switch event {
        case .body(let bytes): received(bytes)
        case .end: answerEnded()
        case .failed(let failure): attemptFailed(failure)
        case .bodyWanted, .interim, .head, .dialled: break
        }
    }

    private func receiveLate(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        switch event {
        case .dialled(let socket): socket.close()
        case .failed(let failure) where aborted === attempt:
            aborted = nil
            record(nil, failure: failure)
            loop.engine.post(.evidence(id, failure, takeTally()))
        case .failed, .bodyWanted, .interim, .head, .body, .end: break
        }
    }

    func attemptFailed(_ failure: Failure) {
        attempt = nil
        guard phase != .ended else { return }
        loop.metrics.failedAttemptCount.increment()
        let circumstances = ExchangeMachine.Circumstances(
            request: summary, isNetworkAway: loop.isNetworkAway, now: loop.engine.clock.now(), obstacle: obstacle(failure))
        let step = machine.attemptFailed(failure, in: circumstances, using: &loop.generator)
        if case .breakOff(let failure) = step { return answerBroke(failure) }
        answer = nil
        switch step {
        case .again(let trigger):
            startAttempt(trigger, onNewConnection: true)
        case .park(let failure, let parking):
            park(failure, parking)
        case .standIn(_, let failure), .fail(let failure, _), .breakOff(let failure):
            ended(as: .failed, failure: failure)
        }
    }

    private func obstacle(_ failure: Failure) -> ExchangeMachine.Obstacle? {
        if mark?.wasRefused == true, failure.evidence == .neverSent { return .startNotRecorded }
        return request?.body?.summary == .brokenOff ? .bodyUnreadable : nil
    }

    /// Nothing could be sent: the store, or the end of the proxy, is in the way.
    func unready(_ failure: Failure) {
        park(failure, machine.couldNotStart(failure))
    }

    private func park(_ failure: Failure, _ parking: Verdict.Parking) {
        loop.engine.post(.attemptFailed(id, failure, parking, takeTally()))
        restOrClose()
    }

    /// Until the next attempt. What is stored is loaded for it; what is not stays in memory.
    func restOrClose() {
        // mutant: nobody-left
        phase = isStored ? .ended : .parked
        if isStored { loop.closed(self) }
    }

    func record(_ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil) {
        machine.record(
            verdict, failure: failure, status: status, connection: attempt?.connectionFacts, at: loop.engine.clock.now())
    }

    /// The request in the eyes of the rules.
    var summary: RequestSummary {
        RequestSummary(
            Repeatability(
                method: request?.method ?? "", hasIdempotencyKey: hasIdempotencyKey, isDeclared: rules.policy.repeatable),
            body: bodySummary)
    }

    /// What the store has of it can be sent as often as it takes; before that it is what was kept of it.
    private var bodySummary: RequestSummary.Body {
        // mutant: head-without-body.2
        guard let body = request?.body else { return .none }
        return isStored ? .captured : body.summary
    }

    func takeTally() -> AttemptTally {
        var tally = AttemptTally(
            attemptCount: rules.attemptCount, automaticLeft: rules.automaticLeft, isBodyReplayable: true,
            records: machine.takeRecords())
        tally.counts = rules.counts
        return tally
    }

    // MARK: The end

    func ended(as state: EntryState, failure: Failure? = nil) {
        phase = .ended
        loop.engine.post(.ended(id, state, failure, takeTally()))
        loop.closed(self)
    }

    /// The workers are about to be shut down.
    func stop() { rules.isStopping = true }

    func cancelAttempt() {
        if let attempt { worker?.cancel(attempt) }
        attempt = nil
    }
}

extension Failure {
    /// The proxy ends before it could send.
    static let stopping = Failure(
        phase: .resolving, kind: .proxyInternalError, evidence: .neverSent,
        message: "The proxy is stopping.")
}
