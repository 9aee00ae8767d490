import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// The request of a client, from its first byte to the last thing that is done for it.
extension Exchange: ConnectionExchange {
    /// The first step: an attempt at once, unless something is to be read or looked for before.
    func begin() {
        switch phase {
        case .collecting(.ticket) where isAnnouncedOverMax: bodyCannotBeKept()
        case .collecting(.ticket): client?.sendContinue(in: phase)
        case .collecting where conversion?.readsBodyFirst() == true: client?.sendContinue(in: phase)
        case .collecting: findDuplicate()
        // A request without a body may have come far already.
        default: break
        }
    }

    var isAnnouncedOverMax: Bool {
        if case .length(let count) = request.framing { return count > loop.rules.body.byteCountMax }
        return false
    }

    /// Looks for an equal request first, where the client gave a key.
    func findDuplicate() {
        guard let digest = conversion?.digest else { return beginTrying() }
        phase = .searching(.duplicateKey)
        let search = DuplicateKeySearch(of: self)
        keySearch = search
        search.begin(digest, isComplete: !isReceivingRequest)
    }

    /// An attempt at once, unless its gate is shut.
    func beginTrying() {
        conversion?.startTimer()
        if cacheUse?.serveOnlyIfCached(for: self) == true { return }
        let isPassed = rules.policy.mode == .pass
        switch loop.notice(for: request.origin) {
        case .watched where order.lane != nil && !isPassed, .shut where !isPassed:
            // Behind a shut gate, or maybe others of its lane: the engine says when it goes.
            orFromCache { self.park(nil, .init(delay: .zero, shutsGate: false)) }
        case .shut where loop.isOffline:
            orFromCache { self.fail(Problem.offline) }
        case .watched, .shut:
            loop.engine.post(.freshUnderWay(request.origin, changedBy: 1))
            isCountedAsFresh = true
            startAttempt(.arrival)
        case nil, .forgotten:
            startAttempt(.arrival)
        }
    }

    private func orFromCache(_ otherwise: @escaping () -> Void) {
        if cacheUse?.serveStale(for: self, orElse: otherwise) != true { otherwise() }
    }

    // MARK: The body

    func makeBody() -> CapturedBody {
        var length: Int?
        if case .length(let count) = request.framing { length = count }
        // All of it is kept although it must not be sent twice: a person may want to.
        let isWanted = rules.policy.maybeAppliedRule() == .ask || conversion != nil || goesOnWithoutClient
        let loop = self.loop
        return CapturedBody(
            length: length, mayBeSentTwice: request.mayBeSentTwice || isWanted, limits: loop.rules.body, spool: loop.spool,
            clientResumed: { [weak self] in
                loop.eventLoop.execute { [weak self] in self?.connection?.resumeBody() }
            },
            stuck: { [weak self] in loop.eventLoop.execute { [weak self] in self?.bodyIsStuck() } })
    }

    /// How long after the disk has refused what waits it is tried again. Default: 5 s.
    static let roomPause: TimeAmount = .seconds(5)

    /// Nothing reports that there is room again, so it is tried. A body over `limits.bodyMax` waits for the upstream alone.
    private func bodyIsStuck() {
        if phase == .collecting(for: .ticket) { return bodyCannotBeKept() }
        if conversion?.bodyCannotBeReadFirst() == true { return }
        guard !isWaitingForRoom, phase != .ended, request.body?.keepingFailure != nil else { return }
        isWaitingForRoom = true
        loop.eventLoop.scheduleTask(in: Self.roomPause) { [weak self] in
            guard let self else { return }
            isWaitingForRoom = false
            if phase != .ended { request.body?.roomMayBeBack() }
        }
    }

    /// It becomes no ticket, and nothing of it was sent.
    func bodyCannotBeKept() {
        let max = loop.rules.body.byteCountMax
        let isOverMax = isAnnouncedOverMax || (request.body?.receivedByteCount ?? 0) > max
        failUnsent(isOverMax ? .bodyOverMax(max) : Problem(notKept: conversion?.keptBody?.keepingFailure))
    }

    /// Nothing of it was ever sent, so one that waits for its outcome goes in its place.
    func failUnsent(_ problem: Problem) {
        keySearch?.end(nil)
        request.body?.breakOff()
        fail(problem)
    }

    func receivedBody(_ bytes: ByteBuffer) -> Bool {
        // After an early response nobody wants the rest.
        guard phase != .ended else { return true }
        client?.hasSentContinue = true
        conversion?.read(bytes)
        return request.body?.append(bytes) ?? true
    }

    func finishedRequest(trailers: FieldBlock?) {
        client?.isReceivingRequest = false
        self.trailers = trailers?.forwardedTrailers
        request.body?.finish(trailers: self.trailers)
        requestCompleted()
        if phase == .ended { connection?.exchangeFinished(keepsAlive: false) }
    }

    private func requestCompleted() {
        if conversion?.bodyIsRead() == true || keySearch?.requestCompleted() == true { return }
        // What waits was told of while its body was still on the way. Told before it asks for a ticket.
        if let entry, let body = request.body {
            loop.engine.post(
                .bodyCompleted(entry, byteCount: body.receivedByteCount, isReplayable: body.summary == .captured))
        }
        if conversion?.isDue == true { conversion?.ask() }
    }

    func requestBroke(status: Int, detail: String) {
        giveUp(Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError))
    }

    func requestBodyStalled() {
        giveUp(
            Problem(
                status: 408, kind: "request_body_timeout",
                detail: "No byte of the request body arrived within timeouts.clientIdle.", error: .httpRequestError))
    }

    /// A request that will never be complete is never sent again and never finished upstream.
    private func giveUp(_ problem: Problem) {
        if case .collecting = phase { return failUnsent(problem) }
        request.body?.breakOff()
        cancelAttempt()
        guard phase == .delivering else { return fail(problem) }
        ended(as: .failed)
        client?.breakOff()
    }

    // MARK: The client

    func clientTookBytes() {
        handshake?.readMore()
        if let client { taken(client.tookBytes()) }
    }

    /// One that waits has left; during the first attempt its response is still delivered.
    func clientClosedInput() {
        let isTried = entry != nil && phase == .attempting
        guard isReceivingRequest || phase == .parked || keySearch?.hasJoined == true && !isAcceptedAtOnce || isTried else { return }
        let (client, isDelivering) = (client, phase == .delivering)
        clientLeft()
        if isDelivering { client?.breakOff() } else { client?.connection?.linger() }
    }

    func clientLeft() {
        guard let client else { return }
        client.left()
        loop.finalResponseGiven(self)
        if isReceivingRequest { request.body?.breakOff() }
        if goOnWithoutClient() { return }
        switch phase {
        case .collecting(.ticket) where !isReceivingRequest, .accepting, .searching where isAcceptedAtOnce:
            // It is accepted all the same.
            break
        case .parked, .collecting, .searching, .accepting, .preflight:
            // mutant: waits-for-nobody
            ended(as: .cancelled)
        case .offering:
            offered = nil
            cancelAttempt()
            ended(as: .cancelled)
        case .attempting where mayHaveBeenApplied, .delivering where mayHaveBeenApplied:
            // Let it finish, so that what became of it is known. Nobody reads the response, so nothing may wait for a reader.
            phase = .ended
            clientTookBytes()
        case .attempting, .delivering:
            if let attempt, let entry { aborted = (attempt, entry) }
            cancelAttempt()
            ended(as: .cancelled)
        case .ended:
            break
        }
    }

    private var isAcceptedAtOnce: Bool { conversion?.isAtOnce == true }

    /// Whether the attempt under way may do something upstream that somebody will want to know of.
    private var mayHaveBeenApplied: Bool {
        guard let attempt, request.purpose == .transfer, !isReceivingRequest else { return false }
        return !RequestMethod.isSafe(request.method) && attempt.hasBegunSending.load(ordering: .acquiring)
    }

    func abandonIfFresh() {
        if entry == nil { abandonIfConnecting() }
    }

    // MARK: Without the client

    /// Whether what its client leaves behind goes on as a ticket (policy `clientGone: adopt`).
    private var goesOnWithoutClient: Bool {
        rules.policy.clientGone == .adopt && rules.policy.mode != .pass && loop.rules.keepsTickets
            && request.purpose == .transfer
    }

    /// Why it cannot go on without its client. Nil: all of its body is kept for as many attempts as it takes.
    var adoptionObstacle: AdoptionObstacle? {
        guard let body = request.body else { return nil }
        if body.isTooLong { return .bodyTooLong }
        return body.summary == .captured ? nil : .bodyNotKept
    }

    /// Whether its client has closed its side while it could still be answered, and what is left of that goes on without it.
    var isLeftBehind: Bool {
        connection?.isInputClosed == true && goesOnWithoutClient && !isReceivingRequest && adoptionObstacle == nil
    }

    /// - Returns: Whether it goes on as a ticket without a client.
    func goOnWithoutClient() -> Bool {
        guard let client, goesOnWithoutClient, !isReceivingRequest, phase.isPending else { return false }
        // mutant: head-without-body
        if let adoptionObstacle {
            // It ends as under `cancel`, and the reason is recorded: its client expects it to be done.
            loop.engine.post(.notAdopted(joinedEntry(), adoptionObstacle))
            return false
        }
        let conversion = ticketConversion(client)
        conversion.ask()
        conversion.convert(isStored: false)
        return true
    }

    /// The conversion that its client asked for, or one that nobody asked for.
    func ticketConversion(_ client: ClientRecipient) -> TicketConversion {
        if let conversion { return conversion }
        let new = TicketConversion(of: self, nil, base: "", nil, isAtOnce: false)
        conversion = new
        return new
    }

    // MARK: The stop of the proxy

    func cutOff() -> Bool {
        switch phase {
        case .delivering, .ended:
            // Those that asked for the same must not wait for what will not come.
            keySearch?.end(KeyOutcome(OwnResponse(.cutOff(mayHaveBeenSent: true), identity: loop.rules.identity)))
            return true
        case .collecting(.ticket) where !isReceivingRequest, .accepting, .searching where isAcceptedAtOnce:
            // What is being stored is waited for.
            return false
        case .searching where keySearch?.hasJoined == true:
            // What becomes of the one that goes is the last word here, too.
            conversion?.isCutOff = true
            return false
        case .attempting, .offering, .parked, .collecting, .searching, .accepting, .preflight:
            if !isReceivingRequest, phase.isPending, request.purpose == .transfer, conversion?.cutOff() == true { return false }
            answerCutOff()
            return true
        }
    }

    /// Nothing of one that has joined another was ever sent, so that can be said.
    func settlingIsOver() {
        if keySearch?.hasJoined == true { answerCutOff() }
    }

    /// There is no ticket for it after all.
    func answerIfCutOff() {
        guard conversion?.isCutOff == true else { return }
        if client != nil { answerCutOff() }
        loop.finalResponseGiven(self)
    }

    private func answerCutOff() {
        guard phase != .delivering, phase != .ended else { return }
        let mayHaveBeenSent =
            rules.counts.mayHaveBeenApplied || attempt?.hasBegunSending.load(ordering: .acquiring) == true
        offered = nil
        cancelAttempt()
        request.body?.breakOff()
        fail(.cutOff(mayHaveBeenSent: mayHaveBeenSent))
    }
}
