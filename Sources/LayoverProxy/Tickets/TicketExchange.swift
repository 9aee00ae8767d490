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
    enum Phase {
        /// The request is being read, or waits for its turn.
        case resting
        /// The origin is asked whether it makes sense.
        case asking
        case attempting
        /// An answer has come whose status is worth another attempt; whether one is made is still to be said.
        case offering
        /// The answer is being kept.
        case receiving
        case done
    }

    let loop: ProxyLoop
    let id: EntryID
    let hasIdempotencyKey: Bool
    let wish: PolicyWish
    /// What the attempt is marked with on disk; nil for one that was under way before it was a ticket.
    let mark: AttemptMark?
    /// Whether the origin is not asked first, whatever the policy says.
    let skipsPreflight: Bool
    var rules: Exchange
    /// A reload may change it.
    var route: String?
    var request: UpstreamRequest?
    var phase = Phase.resting
    var attempt: UpstreamAttempt?
    /// Whether its request is in the store, so that its next attempt can do without us.
    var isStored = true
    /// The worker that makes the attempt.
    var worker: (any UpstreamWorker)?
    var timeline = AttemptTimeline()
    var lastFailure: Failure?
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
        loop: ProxyLoop, id: EntryID, rules: Exchange, route: String?, wish: PolicyWish, hasIdempotencyKey: Bool,
        mark: AttemptMark?, skipsPreflight: Bool = false
    ) {
        self.loop = loop
        self.id = id
        self.rules = rules
        self.route = route
        self.wish = wish
        self.hasIdempotencyKey = hasIdempotencyKey
        self.mark = mark
        self.skipsPreflight = skipsPreflight
        loop.opened(self)
    }

    // MARK: Attempts

    /// - Parameter number: What it was counted as already; nil: it is counted now.
    func startAttempt(_ trigger: AttemptTrigger, onNewConnection: Bool = false, number: Int? = nil) {
        guard let request, let worker = loop.ticketWorker() else { return unready(.stopping) }
        self.worker = worker
        phase = .attempting
        let number = number ?? rules.attemptStarted(trigger: trigger)
        let attempt = UpstreamAttempt(
            request: request, number: number, needsFreshConnection: onNewConnection,
            // mutant: unmarked
            wantsConnectionFacts: true, beforeSending: mark?.closure(for: rules.counts, by: self), receiver: self)
        self.attempt = attempt
        timeline.began(number, trigger, at: loop.engine.clock.now())
        loop.metrics.attemptCount.increment()
        worker.start(attempt)
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        guard attempt === self.attempt else { return receiveLate(event, of: attempt) }
        if phase == .asking { return receiveWord(event) }
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
        guard phase != .done else { return }
        var failure = failure
        loop.metrics.failedAttemptCount.increment()
        if phase == .receiving {
            // Nobody has read of it yet, so what may be sent twice is asked for again.
            if !summary.isRepeatable { return answerBroke(failure) }
            failure.evidence = .maybeApplied
        }
        lastFailure = failure
        if mark?.wasRefused == true, failure.evidence == .neverSent { return notMarked(failure) }
        if request?.body?.summary == .brokenOff { return bodyBroke(failure) }
        let trigger = timeline.begun?.trigger ?? .arrival
        let verdict = rules.verdict(
            on: failure, sending: summary, isNetworkAway: loop.isNetworkAway, using: &loop.generator)
        // What is not asked for again is known as far as it came.
        if phase == .receiving, !verdict.sendsAgain { return answerBroke(failure) }
        answer = nil
        record(verdict, failure: failure)
        switch verdict {
        case .againOnNewConnection:
            rules.hasTriedNewConnection = true
            startAttempt(trigger, onNewConnection: true)
        case .park(let parking):
            park(failure, parking)
        case .standIn, .fail, .deliver:
            ended(as: .failed, failure: failure)
        }
    }

    /// How long an attempt waits after the store could not take note of it. Default: 5 s.
    private static let storeDelay: Duration = .seconds(5)

    private func notMarked(_ failure: Failure) {
        rules.stoppedByStore(failure.evidence)
        let parking = Verdict.Parking(delay: Self.storeDelay, shutsGate: false, rule: .store)
        record(.park(parking), failure: failure)
        park(failure, parking)
    }

    /// The disk gave only a part of the body, in the middle of sending. No policy is asked: this was not the origin.
    private func bodyBroke(_ failure: Failure) {
        var failure = failure
        failure.message = "The file of its body could not be read to its end."
        lastFailure = failure
        rules.stoppedByStore(failure.evidence)
        let isOpen = failure.evidence == .maybeApplied && !summary.isRepeatable
        let parking = Verdict.Parking(
            delay: Self.storeDelay, shutsGate: false, asks: isOpen ? .maybeApplied : nil, rule: .store)
        record(.park(parking), failure: failure)
        park(failure, parking)
    }

    /// Nothing could be sent: the store, or the end of the proxy, is in the way.
    func unready(_ failure: Failure) {
        if timeline.begun != nil { rules.stoppedByStore(.neverSent) }
        lastFailure = failure
        park(failure, Verdict.Parking(delay: Self.storeDelay, shutsGate: false, rule: .store))
    }

    private func park(_ failure: Failure, _ parking: Verdict.Parking) {
        loop.engine.post(.attemptFailed(id, failure, parking, takeTally()))
        restOrClose()
    }

    /// Until the next attempt. What is stored is loaded for it; what is not stays in memory.
    func restOrClose() {
        // mutant: nobody-left
        phase = isStored ? .done : .resting
        if isStored { loop.closed(self) }
    }

    func record(_ verdict: Verdict?, failure: Failure? = nil, status: Int? = nil) {
        timeline.ended(
            at: loop.engine.clock.now(), verdict, failure: failure, status: status,
            connection: attempt?.connectionFacts)
    }

    /// The request in the eyes of the rules.
    var summary: RequestSummary {
        RequestSummary(
            method: request?.method ?? "", hasIdempotencyKey: hasIdempotencyKey,
            declaredRepeatable: rules.policy.repeatable, body: bodySummary)
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
            records: timeline.takeRecords())
        tally.counts = rules.counts
        return tally
    }

    // MARK: The end

    func ended(as state: EntryState, failure: Failure? = nil) {
        phase = .done
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
        message: "The proxy is being stopped.")
}
