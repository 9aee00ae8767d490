import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import LayoverText
import NIOCore

/// Responses: delivered, withheld, retried, resumed, or taken from the cache.
extension Exchange {
    func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { machine.sentAgain(sendings - 1) }
        guard !parentProxyRefused(head) else { return }
        if machine.resumable != nil, phase.isAttempting { return continued(by: head) }
        // Before anybody keeps or passes on the head (RFC 9110 section 6.6.1).
        let head = head.hasDate ? head : head.dated(by: loop.dateLine.bytes(at: loop.wallSeconds))
        if phase.isUnattended {
            if !leavesOutcomeUnknown(head) { answeredUnattended(head) }
            return
        }
        guard !leavesOutcomeUnknown(head) else { return }
        guard !phase.isAttempting || !retries(head) else { return }
        originAnswered(.deliver(.answered), status: head.status)
        if phase.isAttempting { deliver(head) }
    }

    /// Whether the response is not to be passed on, or not yet.
    private func retries(_ head: ResponseHead) -> Bool {
        // The list first: a call of the machine copies it.
        guard machine.attempts.policy.retryOn.match(status: head.status), machine.retries(status: head.status) else { return false }
        if let client, client.connection?.isInputClosed != false { return false }
        let response = ResponseSummary(head, now: loop.wallSeconds)
        let step = machine.answered(
            response, sending: summary, connection: attempt?.connectionFacts, at: loop.engine.clock.now(), using: &loop.generator)
        follow(step, after: response, head)
        return true
    }

    private func follow(_ step: ExchangeMachine.ResponseStep, after response: ResponseSummary, _ head: ResponseHead) {
        switch step {
        case .withhold(let failure, let parking):
            // The engine says what becomes of it: the set may be full, or the budget spent, and then the client gets what the
            // origin said.
            withhold(WithheldResponse(head: head))
            run.endFresh()
            post(failure, parking)
        case .standIn(let standIn, let failure):
            tellPause(response)
            originAnswered(.standIn(standIn), status: head.status)
            run.cancel()
            self.standIn(standIn, failure)
        case .deliver(let verdict):
            tellPause(response)
            originAnswered(verdict, status: head.status)
            deliver(head)
        }
    }

    /// True if the parent proxy has refused our credentials. Its 407 is not passed on, because the client would send its own credentials.
    /// The 407 says nothing about the origin.
    func parentProxyRefused(_ head: ResponseHead) -> Bool {
        guard head.status == 407, let failure = attempt?.request.refusedCredentials(on: attempt?.connectionFacts) else { return false }
        run.abortQuietly()
        attemptFailed(failure)
        return true
    }

    /// This request does not wait, but others of its policy stay away from an origin that asks for it.
    private func tellPause(_ response: ResponseSummary) {
        guard let wait = machine.attempts.pause(after: response) else { return }
        loop.engine.post(OriginPaused(request.origin, for: machine.attempts.policy, wait))
    }

    /// Reports a response to the engine. For a request without an entry only if its origin, or the network, was in trouble.
    func originAnswered(_ verdict: Verdict, status: Int) {
        if let entry {
            record(verdict, status: status)
            loop.engine.post(.answered(AttemptAnswered(entry, takeTally())))
        } else {
            tellOriginAnswered()
        }
    }

    /// Evidence for other requests, where they wait for the origin or for the network.
    private func tellOriginAnswered() {
        if notice != nil {
            loop.engine.post(OriginAnswered(request.origin))
            // A reload may have named another one since.
            if let gate = run.parentProxy?.gate { loop.engine.post(OriginAnswered(gate)) }
        } else if loop.network.condition.isDoubted, !request.origin.isLoopback {
            loop.networkAnswered()
        }
    }

    // MARK: Delivery

    func deliver(_ head: ResponseHead) {
        if let client, client.isStream, client.connection != nil, let field = HTTP2Fields.unsendable(in: head) {
            // The response cannot be sent by HTTP/2 as it is. It is neither altered nor asked for again.
            forgetWithheld()
            run.cancel()
            return fail(.unsendable(field, status: head.status))
        }
        machine.deliveryBegan()
        beginResponse(head)
    }

    /// The connection for a tunnel is open, or the origin has agreed to another protocol.
    func tunnelOpened(status: Int) {
        originAnswered(.deliver(.answered), status: status)
        machine.deliveryBegan()
    }

    /// The client gets a response that no attempt brought.
    ///
    /// - Parameter begin: Begins to write it.
    func give(_ begin: (ClientRecipient) -> Void) {
        guard let client, client.connection != nil else { return ended(as: .cancelled) }
        machine.deliveryBegan()
        begin(client)
    }

    /// Passes the response in hand on after all.
    func deliverWithheld() {
        guard phase.isWithholding, let withheld else { return }
        if withheld.readsCode { return judgeWithheld() }
        forgetWithheld()
        deliver(withheld.head)
        for event in withheld.rest {
            guard attempt != nil else { break }
            receiveRest(event)
        }
        // Not within a batch of the worker, which would flush at its end.
        client?.connection?.flushNow()
        run.handshake?.readMore()
    }

    /// Looks in the cache, once, because the origin cannot be reached.
    func serveStale(orElse: @escaping () -> Void) {
        guard let cacheUse, cacheUse.isReadable, client?.connection != nil, machine.cacheSearchBegan() else { return orElse() }
        cacheUse.look(.unreachable, for: self, orElse: orElse)
    }

    /// - Returns: Whether the client wants a response from the cache or none.
    func isServedOnlyIfCached() -> Bool {
        guard let cacheUse, cacheUse.isReadable, request.isOnlyIfCached, machine.cacheSearchBegan() else { return false }
        cacheUse.lookOnly(for: self)
        return true
    }

    // MARK: Responses to a repetition (`RepeatedResponse`)

    /// - Returns: Whether the response must not be delivered.
    private func leavesOutcomeUnknown(_ head: ResponseHead) -> Bool {
        // First what a first attempt decides without a copy of the machine.
        guard machine.attempts.counts.mayHaveBeenApplied, request.purpose == .transfer, phase.isAttempting || phase.isUnattended else {
            return false
        }
        switch machine.meaning(ofStatus: head.status, to: repeatedSummary) {
        case .answer: return false
        case _ where phase.isUnattended: outcomeIsUnknownWithoutClient(head)
        case .unknown: outcomeIsUnknown(after: head, isConflict: false)
        case .unknownUnlessConflict:
            withhold(WithheldResponse(head: head, readsCode: true))
            loop.eventLoop.scheduleTask(in: loop.conflictCodeTime) { [weak self, weak attempt] in
                if let self, let attempt, self.attempt === attempt { self.judgeWithheld() }
            }
        }
        return true
    }

    private var repeatedSummary: RequestSummary {
        var summary = self.summary
        summary.hasPrecondition = request.fields.contains { PreconditionField.isOne($0.name, value: $0.text) }
        return summary
    }

    /// Keeps what follows the head of a response in hand.
    func collectWithheld(_ event: UpstreamEvent) {
        withhold(event)
        guard let withheld, withheld.readsCode, withheld.isOver || withheld.byteCount > ConflictCode.byteCountMax else { return }
        judgeWithheld()
    }

    /// All of the body has come, or more than is read of it, or no more is waited for.
    func judgeWithheld() {
        guard phase.isWithholding, let withheld, withheld.readsCode else { return }
        outcomeIsUnknown(after: withheld.head, isConflict: withheld.isConflict)
    }

    /// The response to a repetition does not show whether an earlier attempt was applied.
    private func outcomeIsUnknown(after head: ResponseHead, isConflict: Bool) {
        let step = machine.outcomeIsUnknown(
            after: ResponseSummary(head, now: loop.wallSeconds), isConflict: isConflict, connection: attempt?.connectionFacts,
            in: circumstances(isOver: true), using: &loop.generator)
        if entry == nil { tellOriginAnswered() }
        if withheld?.isOver == true { run.end() } else { run.cancel() }
        forgetWithheld()
        follow(step)
    }

    /// The client has left. Requests with the same key get what it would have got.
    private func outcomeIsUnknownWithoutClient(_ head: ResponseHead) {
        let failure = Failure.outcomeUnknown(status: head.status)
        record(nil, failure: failure, status: head.status)
        run.cancel()
        var problem = Problem(
            failure, reason: .outcomeUnknown, attemptCount: machine.attempts.attemptCount, entry: nil)
        problem.receivedStatus = head.status
        keySearch?.end(KeyOutcome(OwnResponse(problem, of: loop)))
        ended(as: .cancelled, failure: failure)
    }

    // MARK: Responses that broke off (`ResumableResponse`)

    /// The part of the response that breaks off now, if its rest can be asked for.
    func resumableResponse() -> ResumableResponse? {
        let request = ResumableRequest(
            method: request.method, purpose: request.purpose, hasRange: request.fields.contains { $0.isNamed("range") },
            mayGoElsewhere: client != nil && (keySearch != nil || conversion != nil))
        return recipient.part?.resumable(to: request, now: loop.wallSeconds)
    }

    /// Whether the ticket waits in the store, and what has come of its response waits here.
    var isStoredWithPart: Bool { phase.isParked && machine.holder.isStored && machine.resumable != nil }

    /// Whether a stop of the proxy waits for it.
    var mustFinish: Bool {
        if store != nil { return !isStoredWithPart }
        // The client has its response and is gone; a part of its request is still here.
        return phase.isUnattended || client != nil && phase.isDelivering
    }

    /// The response to the request for the rest has come.
    private func continued(by head: ResponseHead) {
        let step = machine.continued(by: ResumeFacts(head, now: loop.wallSeconds), in: circumstances(), using: &loop.generator)
        switch step {
        case .goOn:
            client?.connection?.access?.resumedCount += 1
            loop.metrics.resumedResponseCount.increment()
            originAnswered(.deliver(.answered), status: head.status)
        case .replace:
            recipient.discard()
            received(head, sendings: 1)
        case .failed(let step): endAttempt(step)
        }
    }

    /// Passes on what the recipient does not have yet.
    func receiveContinuation(_ bytes: ByteBuffer) {
        switch machine.continuationCame(bytes.readableBytes) {
        case .pass(let skipped):
            var rest = bytes
            rest.moveReaderIndex(forwardBy: skipped)
            run.taken(skipped)
            if rest.readableBytes > 0 { run.taken(receiveBody(rest)) }
        case .refused(let refusal): endAttempt(machine.refused(refusal, in: circumstances(), using: &loop.generator))
        }
    }

    private func endAttempt(_ step: ExchangeMachine.FailureStep) {
        run.cancel()
        follow(step)
    }

    /// Discards the part of a response that has come, unless the response goes on.
    func discardUnlessResumed() { if machine.resumable == nil { recipient.discard() } }
}

extension ResponseSummary {
    /// - Parameter now: Seconds since 1970.
    fileprivate init(_ head: ResponseHead, now: Int) {
        self.init(status: head.status, retryAfter: head.retryAfter(now: now), forbidsRetry: head.forbidsRetry)
    }
}

extension Failure {
    /// The origin sent less of the rest than there is.
    static var partIsOver: Failure {
        Failure(
            phase: .receiving, kind: .httpResponseIncomplete, evidence: .answered,
            message: "The origin sent only a part of the rest of its response.")
    }
}

extension UpstreamRequest {
    /// The same request for what is missing of its response. Fields of the client's own that say otherwise are replaced.
    func forTheRest(of response: ResumableResponse) -> UpstreamRequest {
        var request = self
        request.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
        request.fields.append("Range", response.range)
        request.fields.append("If-Range", response.validator.text)
        return request
    }
}

extension ResumeFacts {
    /// - Parameter now: Seconds since 1970.
    init(_ head: ResponseHead, now: Int) {
        self.init(status: head.status, contentLength: head.contentLength)
        let fields = head.fields()
        // Of two validators nobody can say which one counts: what is joined is neither strong nor equal to one.
        func text(_ name: StaticString) -> String? {
            let values = fields.values(of: name).map { fields.string($0) }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        entityTag = text("etag")
        lastModified = text("last-modified")
        lastModifiedSeconds = lastModified.flatMap { HTTPDate.seconds($0, now: now) }
        dateSeconds = text("date").flatMap { HTTPDate.seconds($0, now: now) }
        acceptRanges = text("accept-ranges")
        contentType = text("content-type")
        contentEncoding = text("content-encoding")
        contentRange = text("content-range")
        contentRangeCount = fields.values(of: "content-range").count
        retryAfter = head.retryAfter(now: now)
    }
}

/// A response that is withheld while the engine says whether its request may be tried again, or while its body is read for a code.
///
/// What comes after the head waits here too. The worker pauses by itself when it is too much, because none
/// of it counts as taken.
///
/// A class: most exchanges never have one, and as a part of them it would make each 100 bytes larger.
final class WithheldResponse {
    let head: ResponseHead
    var rest: [UpstreamEvent] = []
    /// Whether the body is read for the code of a conflict. The engine does not know of the response yet, and it is never delivered.
    let readsCode: Bool

    init(head: ResponseHead, readsCode: Bool = false) { (self.head, self.readsCode) = (head, readsCode) }

    /// Whether nothing more will come of the attempt.
    var isOver: Bool {
        switch rest.last {
        case .end, .failed: true
        default: false
        }
    }

    /// Bytes of the body that have come.
    var byteCount: Int {
        rest.reduce(0) { sum, event in
            if case .body(let bytes) = event { sum + bytes.readableBytes } else { sum }
        }
    }

    /// Whether the whole body has come, and has the code of a conflict.
    var isConflict: Bool {
        guard readsCode, case .end? = rest.last else { return false }
        var body: [UInt8] = []
        for case .body(let bytes) in rest { body += bytes.readableBytesView }
        return ConflictCode.isIn(body)
    }
}
