import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The client of an exchange: it sends the request, it leaves, its entry ends, or the proxy is being stopped. What follows the core decides
/// (`ExchangeMachine+Client`).
extension Exchange {
    /// What the core asks about a request whose client leaves.
    var departure: ExchangeMachine.Departure {
        var departure = ExchangeMachine.Departure(
            purpose: request.purpose, method: request.method, isComplete: !isReceivingRequest,
            hasBegunSending: run.hasBegunSending)
        departure.mayBeShared = client?.isSharing == true
        departure.onlyNeedsRequestSent = client?.onlyNeedsRequestSent == true
        departure.storesTickets = loop.configuration.storesTickets
        departure.adoptionObstacle = request.adoptionObstacle
        return departure
    }

    // MARK: The request

    /// An attempt at once, unless something is to be read or looked for before.
    func requestBegan() {
        switch phase {
        case .collecting(.ticket) where request.isAnnounced(over: loop.configuration.body.byteCountMax): bodyCannotBeStored()
        case .collecting(.ticket) where !isReceivingRequest: requestCompleted()
        case .collecting(.ticket): client?.sendContinue(in: phase)
        case .collecting where isBodyReadFirst(): client?.sendContinue(in: phase)
        case .collecting: tryAtOnce()
        default: break
        }
    }

    func makeBody() -> CapturedBody {
        var length: Int?
        if case .length(let count) = request.framing { length = count }
        let loop = self.loop
        return CapturedBody(
            length: length, mayBeSentTwice: capturesBody, limits: loop.configuration.body, spool: loop.spool,
            clientResumed: { [weak self] in
                loop.eventLoop.execute { [weak self] in self?.client?.connection?.resumeBody() }
            },
            stuck: { [weak self] in loop.eventLoop.execute { [weak self] in self?.bodyIsStuck() } })
    }

    /// Whether all of the body is kept, also of a request that must not be sent twice: a person may want to, or a limiter may refuse it.
    private var capturesBody: Bool {
        let policy = machine.attempts.policy
        // An origin may refuse the stream of HTTP/2 once all of it has left (RFC 9113 section 8.7).
        return request.mayBeSentTwice || request.supportsHTTP2 || policy.maybeAppliedRule() == .ask || policy.retriesRefused
            || conversion != nil || machine.adoptsOnLeave(request.purpose, storesTickets: loop.configuration.storesTickets)
    }

    private func requestCompleted() {
        if bodyIsRead() || isAnsweredByOutcome() { return }
        // What waits was told of while its body was still on the way. Told before it asks for a ticket.
        if let entry, let body = request.body {
            loop.engine.post(
                BodyCompleted(of: entry, byteCount: body.receivedByteCount, isReplayable: body.summary == .captured))
        }
        judgeCollected()
        if conversion != nil, machine.isTicketDue { askForTicket() }
    }

    /// The disk has no room for the body, or a limit does not let it be kept to its end. Nothing reports that there is room again, so it is
    /// tried. A body over `limits.bodyMax` waits for the upstream alone.
    private func bodyIsStuck() {
        guard let client else { return }
        switch machine.bodyIsStuck(hasTokens: conversion?.isBodySuspect == true) {
        case .refuse: return bodyCannotBeStored()
        case .judge: return judgeCollected()
        case .attempt: tryAtOnce()
        case .wait: break
        case .none: return
        }
        guard !phase.isEnded, request.body?.storingFailure != nil else { return }
        client.waitForRoom(of: self)
    }

    /// The request becomes no ticket, and nothing of it was sent.
    func bodyCannotBeStored() {
        let max = loop.configuration.body.byteCountMax
        let isOverMax = request.isAnnounced(over: max) || (request.body?.receivedByteCount ?? 0) > max
        failUnsent(isOverMax ? .bodyOverMax(max) : Problem(notStored: conversion?.bodyToStore?.storingFailure))
    }

    /// Nothing of it was ever sent, so one that waits for its outcome goes in its place.
    func failUnsent(_ problem: Problem) {
        guard client != nil else { return }
        keySearch?.end(nil)
        request.body?.breakOff()
        fail(problem)
    }

    // MARK: The client leaves

    /// The client's connection is gone, or is not used for it any more.
    func clientLeft() {
        guard let client else { return }
        client.hasLeft()
        attempt?.clientLeft()
        loop.finalResponseGiven(self)
        if isReceivingRequest { request.body?.breakOff() }
        follow(machine.clientLeft(departure))
    }

    private func follow(_ step: ExchangeMachine.DepartureStep) {
        switch step {
        case .adopt: adopt()
        case .notAdopted(let obstacle, let next):
            loop.engine.post(.notAdopted(joinedEntry(), obstacle))
            follow(next)
        case .unattended(let limit): goOnUnattended(for: limit)
        case .sendRest(let limit): sendRestUnattended(within: limit)
        case .share: shareUnattended()
        case .end:
            run.cancel(evidenceFor: phase.isWithholding ? nil : entry)
            forgetWithheld()
            // mutant: waits-for-nobody
            ended(as: .cancelled)
        case .accept, .none: break
        }
    }

    private func adopt() {
        mayBecomeTicket()
        askForTicket()
        convert(.unstored)
    }

    /// The client has closed its side. One that waits has left.
    func clientClosedInput() {
        guard let client else { return }
        guard machine.hasLeft(closingInputOf: departure, isEntry: entry != nil) else { return }
        let isDelivering = phase.isDelivering && !client.isDelivered
        client.connection?.finishAccess(.clientGone)
        clientLeft()
        if isDelivering { client.breakOff() } else { client.connection?.linger() }
    }

    /// The client has closed its side, and its request would have to wait now.
    func clientClosedWhileWaiting(_ client: ClientRecipient, _ failure: Failure?, _ parking: Verdict.Parking) {
        switch machine.wouldWaitBehindClosedInput(departure, after: failure) {
        case .adopt:
            post(failure, parking)
            rest()
            adopt()
        case .breakOff(let failure): return breakOffResponse(failure)
        case .fail(let failure): return fail(failure, .pass)
        case .leave: clientLeft()
        }
        client.connection?.linger()
    }

    /// A request that will never be complete is never sent again and never finished upstream.
    private func requestBroke(_ problem: Problem) {
        request.body?.breakOff()
        run.cancel()
        if phase.isDelivering {
            ended(as: .failed)
            client?.breakOff()
        } else {
            fail(problem)
        }
    }

    // MARK: The end of the entry

    /// The engine has taken the entry out of the set already.
    func entryEnded(_ end: EntryEnd, _ retryAfter: Duration?, for client: ClientRecipient) {
        let id = entry
        var problem = Problem.ended(end, lastFailure: machine.lastFailure)
        // Those that asked for the same are told. The request was sent for them, too.
        if machine.isOverForClient { tellOthers(problem, wasSent: true) }
        if let id { leaveSet(id) }
        let step = machine.entryEnded(end, hasBegunSending: run.hasBegunSending)
        if step == .deliver { return deliverWithheld() }
        forgetWithheld()
        // mutant: cancel-goes-on
        run.cancel(evidenceFor: id)
        switch step {
        case .deliver, .none: break
        case .close: close()
        case .breakOff:
            request.body?.breakOff()
            // mutant: silent-cancel
            client.breakOff()
        case .answer:
            request.body?.breakOff()
            problem.entry = id.map(loop.engine.naming.shown)
            if end == .maybeApplied, machine.lastFailure?.kind == .outcomeUnknown { problem.receivedStatus = machine.unknownStatus }
            // No Retry-After for cancelled and settled requests, nor for those that may have been applied.
            switch end {
            case .cancelled, .settled, .superseded, .maybeApplied, .exhausted, .unattended: break
            case .expired: problem.retryAfter = retryAfter
            case .draining: problem.retryAfter = retryAfter ?? .seconds(5)
            }
            problem.recall(machine.attempts.counts)
            // A 2xx to CONNECT would be taken for a tunnel (RFC 9110 section 9.3.6).
            if case .exhausted(let standIn?) = end, request.purpose != .dial {
                let count = machine.attempts.attemptCount
                return answer(OwnResponse(standIn, lastFailure: machine.lastFailure, attemptCount: count, of: loop))
            }
            answer(OwnResponse(problem, of: loop))
        }
    }

    private func tellOthers(_ problem: Problem, wasSent: Bool) {
        var problem = problem
        if wasSent {
            problem.recall(machine.attempts.counts)
            problem.noteSent()
        }
        keySearch?.end(KeyOutcome(OwnResponse(problem, of: loop)))
    }

    // MARK: The stop of the proxy

    /// - Returns: Whether the client has its final response, or gets none.
    func cutOff() -> Bool {
        guard client != nil else { return true }
        switch machine.cutOff(departure) {
        case .none:
            tellOthers(.cutOff(mayHaveBeenSent: true), wasSent: false)
            return true
        case .waitForStore, .waitForOutcome: return false
        // The attempt under way becomes that of the ticket, and the ticket tells what becomes of it.
        case .offerTicket:
            askForTicket(isLast: true)
            return false
        case .answer:
            answerCutOff()
            return true
        }
    }

    /// There is no ticket for it after all.
    func answerIfCutOff() {
        guard machine.isLastWordDue, client != nil else { return }
        answerCutOff()
        loop.finalResponseGiven(self)
    }

    func answerCutOff() {
        guard !machine.isOverForClient else { return }
        let mayHaveBeenSent = machine.attempts.counts.mayHaveBeenApplied || run.hasBegunSending
        forgetWithheld()
        run.cancel()
        request.body?.breakOff()
        fail(.cutOff(mayHaveBeenSent: mayHaveBeenSent))
    }
}

extension Exchange: ConnectionTask {
    var isReceivingRequest: Bool { client?.isReceivingRequest == true }
    var isDelivered: Bool { client?.isDelivered == true }

    func receivedBody(_ bytes: ByteBuffer) -> Bool {
        // The rest of a request that was refused early is thrown away, so that its client gets to read the response.
        guard let client, !phase.isEnded, !client.isRequestUnwanted else { return true }
        client.sendsBody()
        conversion?.read(bytes)
        return request.body?.append(bytes) ?? true
    }

    func finishedRequest(trailers: FieldBlock?) {
        guard let client else { return }
        client.isReceivingRequest = false
        if client.isRequestUnwanted {
            // A part of it was thrown away.
            request.body?.breakOff()
        } else {
            bodyIsComplete(with: trailers?.forwardedTrailers)
            requestCompleted()
        }
        // A connection that has let go of it may work on the next request already.
        if phase.isEnded, client.connection?.exchange === self { client.connection?.exchangeFinished(keepsAlive: false) }
    }

    func requestBroke(status: Int, detail: String) {
        requestBroke(Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError))
    }

    func requestBodyStalled() {
        requestBroke(
            Problem(
                status: 408, kind: "request_body_timeout",
                detail: "No byte of the request body arrived within timeouts.requestBody.", error: .httpRequestError))
    }

    func clientTookBytes() {
        run.handshake?.readMore()
        if let client { run.taken(client.tookBytes()) }
    }

    func describe(in record: AccessRecord) {
        record.attemptCount = machine.attempts.attemptCount
        record.failure = machine.lastFailure
    }

    func abandonIfFresh() { if entry == nil { abandonIfConnecting() } }

    func endIfAddressIsGone() { run.handshake?.endIfAddressIsGone() }

    /// Nothing of one that waits for its key was ever sent, so that can be said.
    func finalResponseIsOverdue() { if machine.awaitsKey { answerCutOff() } }
}

extension UpstreamRequest {
    func isAnnounced(over max: Int) -> Bool {
        if case .length(let count) = framing { return count > max }
        return false
    }

    /// Why the request cannot go on without its client. Nil: all of its body is kept for as many attempts as it takes.
    var adoptionObstacle: AdoptionObstacle? {
        guard let body else { return nil }
        if body.isTooLong { return .bodyTooLong }
        return body.summary == .captured ? nil : .bodyNotStored
    }
}
