import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// How a request stands with its `Idempotency-Key`.
enum KeyStanding {
    /// It has none, or the engine was not asked yet.
    case unasked
    /// The engine was asked which request of the key goes.
    case asked
    /// It waits for the outcome of another request. `isDue`: its client has waited as long as it wants.
    case joined(isDue: Bool)
    /// It is the one that goes.
    case going
    /// It has the outcome of the request with this payload. Its own body may still be arriving.
    case given(KeyOutcome, payload: [UInt8])
}

/// A request with an `Idempotency-Key` whose client takes a ticket: the key is reserved before the first attempt, so that of
/// equal requests one goes, also where they come at the same time.
extension ProxyExchange {
    /// - Returns: False where there is nothing to ask for.
    func looksForItsKey() -> Bool {
        guard let digest = ticket?.digest else { return false }
        phase = .searching(.duplicateKey)
        ticket?.key = .asked
        let claim = KeyClaim(engine: loop.engine)
        self.claim = claim
        claim.ask(key: digest.key, payload: isReceivingRequest ? nil : digest.mark.payload, looks: true, by: self)
        return true
    }

    /// Whether it waits for the outcome of another request.
    var hasJoined: Bool {
        if case .joined? = ticket?.key { return phase == .searching(.duplicateKey) }
        return false
    }

    private func keyIsReserved() {
        guard phase == .searching(.duplicateKey) else { return }
        var wasDue = false
        if case .joined(let isDue)? = ticket?.key { wasDue = isDue }
        ticket?.key = .going
        ticket?.joinTimer?.cancel()
        if ticket?.isCutOff == true { return tellIfCutOff() }
        beginTrying()
        if wasDue { becomeTicket() }
    }

    private func joins() {
        guard phase == .searching(.duplicateKey) else { return }
        ticket?.key = .joined(isDue: false)
        // It waits from now on for nothing that could still reach it.
        if connection?.isInputClosed == true {
            clientLeft()
            connection?.linger()
            return
        }
        startTicketTimer()
        // The one that goes may have all the time in the world: its client may have left, or take an answer without end.
        ticket?.joinTimer = loop.eventLoop.scheduleTask(in: TimeAmount(rules.policy.holdMax)) { [weak self] in
            guard let self, hasJoined else { return }
            // It may be the one that goes by now; that it has waited is no outcome for others.
            claim?.end(nil)
            fail(.equalRequestUnderWay)
        }
        // Whether it is the same request says all of its body.
        sendContinue()
    }

    private func isGiven(_ outcome: KeyOutcome, _ payload: [UInt8]) {
        guard phase == .searching(.duplicateKey) else { return }
        ticket?.key = .given(outcome, payload: payload)
        ticket?.timer?.cancel()
        ticket?.joinTimer?.cancel()
        // Its body is only to be compared, so nothing of it need be kept.
        request.body?.breakOff()
        request.body = nil
        sendContinue()
        if isReceivingRequest { connection?.resumeBody() } else { useOutcome() }
    }

    /// The request is complete, and another one with its key has come to something.
    func useOutcome() {
        guard phase == .searching(.duplicateKey), case .given(let outcome, let payload)? = ticket?.key else { return }
        guard ticket?.digest?.mark.payload == payload else { return fail(.keyReused) }
        switch outcome {
        case .ticket(let id):
            Task { [self] in
                let result = await TicketLook(engine: loop.engine, id: id).look()
                loop.eventLoop.execute { self.answerAgain(id, result) }
            }
        case .own(let status, let fields, let body):
            answer(OwnResponse(status: status, fields: fields, body: body))
        case .answer(let shared) where shared.isBodyLost:
            fail(.answerNotKept)
        case .answer(let shared):
            give(shared)
        }
    }

    private func answerAgain(_ id: EntryID, _ result: TicketLook.Result) {
        guard phase == .searching(.duplicateKey) else { return }
        answer(
            .accepted(
                id, base: ticket?.base ?? "", applied: ticket?.wish.applied ?? "",
                document: .acceptedBefore(id, result) { [loop] in loop.wall($0) }))
    }

    private func give(_ shared: SharedAnswer) {
        guard let connection else { return ended(as: .cancelled) }
        phase = .delivering
        claim?.end(nil)
        loop.settled(self)
        let sending = SharedAnswerSending(shared, loop: loop, connection: connection, client: client)
        given = sending
        sending.begin()
    }

    // MARK: For others

    /// Keeps an answer that is being passed on, as others may have asked for the same.
    func keepForOthers(_ head: ResponseHead) {
        guard claim != nil, case .going? = ticket?.key else { return }
        sharing = AnswerSharing(head, loop: loop) { [weak self] count in
            if let both = self?.sharing?.captureTook(count) { self?.tellTaken(both) }
        }
    }
}

extension ProxyExchange: KeyedExchange {
    func keyDecided(_ decision: KeyDecision) {
        loop.eventLoop.execute {
            switch decision {
            case .go: self.keyIsReserved()
            case .join: self.joins()
            case .offerTicket: self.becomeTicketForOthers()
            case .outcome(let outcome, let payload): self.isGiven(outcome, payload)
            case .reused: if self.phase == .searching(.duplicateKey) { self.fail(.keyReused) }
            case .refused(let limit, let value): if self.phase == .searching(.duplicateKey) { self.fail(.limit(limit, value)) }
            }
        }
    }
}

extension KeyOutcome {
    init(_ response: OwnResponse) {
        self = .own(status: response.status, fields: response.fields, body: response.body)
    }
}
