import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// How a request becomes a ticket, and how it stands among those with its `Idempotency-Key`. What follows the core decides
/// (`ExchangeMachine+Ticket`, `KeySearch`).
extension Exchange {
    // MARK: The body

    /// Whether the body is read to its end before the first attempt. False where it has no tokens, or is too long for a ticket anyway.
    func isBodyReadFirst() -> Bool {
        conversion?.mayHaveTokens == true
            && machine.readsBodyFirst(
                isComplete: !isReceivingRequest, isOverMax: request.isAnnounced(over: loop.configuration.body.byteCountMax))
    }

    /// All of the body is there.
    ///
    /// - Returns: Whether the exchange goes on from here.
    func bodyIsRead() -> Bool {
        guard let conversion, let step = machine.bodyWasRead(hasTokens: conversion.isBodySuspect) else { return false }
        switch step {
        case .replaceTokens: conversion.replaceTokens { [self] in take($0) }
        case .chooseTicket:
            if conversion.wish?.isWhenAway == true { removeHonouredPreferences() }
            conversion.replaceTokens { [self] in take($0) }
        case .attempt: tryAtOnce()
        case .none: break
        }
        return true
    }

    /// Asks the engine for a ticket before any attempt.
    func acceptAtOnce() {
        machine.acceptanceBegan()
        guard let conversion else { return }
        conversion.store(conversion.bodyToStore, as: EntryID(using: &loop.generator)) { [self] acceptance in
            guard phase == .accepting else { return }
            guard let acceptance else { return bodyCannotBeStored() }
            loop.engine.post(.accept(acceptance, self))
        }
    }

    // MARK: From hold to ticket

    /// Asks the engine for a ticket, if its client takes one and the request can be one.
    ///
    /// - Parameter isLast: Whether its time on the connection is over, not only what its client wanted of it.
    func askForTicket(isLast: Bool = false) {
        guard let conversion, !machine.hasAskedForTicket else { return }
        if machine.keyWaitEnded() {
            if let keySearch { loop.engine.post(.waitEnded(keySearch.claim)) }
            return
        }
        let step = machine.ticketIsWanted(
            request.purpose, isComplete: !isReceivingRequest, storesTickets: loop.configuration.storesTickets, isLast: isLast)
        switch step {
        case .ask: becomeTicket(conversion)
        case .awaitRequest: client?.sendContinue(in: phase)
        case .decline: declineTicket()
        case .declineForNow: declineTicketForNow()
        case .none: break
        }
    }

    private func becomeTicket(_ conversion: TicketConversion) {
        let id = joinedEntry()
        request.body?.roomMayBeBack()
        conversion.store(request.body, as: id) { [self] acceptance in
            if let acceptance { loop.engine.post(.becomeTicket(acceptance, self)) } else { ticketBodyWasNotStored() }
        }
    }

    /// There was no response, or no attempt because the gate is shut.
    func originIsAway() {
        if conversion != nil, machine.originWentAway() { askForTicket() }
    }

    /// The disk does not take the body.
    func ticketBodyWasNotStored() {
        machine.ticketBodyWasNotStored()
        declineTicketForNow()
        answerIfCutOff()
    }

    private func declineTicketForNow() {
        askForTicketLater()
        declineTicket()
    }

    /// The client goes on waiting on its connection, and has its ticket once the store takes it.
    private func askForTicketLater() {
        if machine.asksAgain { conversion?.askAgainLater() }
    }

    private func declineTicket() {
        if let entry { loop.engine.post(TicketImpossible(entry)) }
    }

    /// Others wait for what this request comes to, and one of them takes a ticket now.
    private func othersWantTicket() {
        guard conversion != nil else { return }
        let isShared = client?.isSharing == true
        let becomesTicket = machine.othersWantTicket(departure, isUnderWay: attempt != nil && !isShared)
        askForTicket()
        if becomesTicket { convert(.unstored) }
    }

    // MARK: The acceptance

    /// The engine has answered.
    func ticketAnswered(_ result: AcceptanceResult) {
        guard let conversion else { return }
        if result.abandonsBody { conversion.bodyToStore?.disown() }
        machine.ticketWasAnswered(storesBody: !result.abandonsBody, isInDoubt: result.isInDoubt)
        if store != nil {
            adoptionEnded(result)
        } else if phase == .accepting {
            acceptedAtOnce(result, conversion)
        } else if phase.isPending {
            accepted(result, conversion)
        }
        answerIfCutOff()
    }

    private func accepted(_ result: AcceptanceResult, _ conversion: TicketConversion) {
        if let id = result.ticket { keySearch?.end(.ticket(id)) }
        switch result {
        case .accepted(let id, let view):
            guard let client else { return }
            let response = conversion.response(id, view)
            if phase == .parked {
                forgetEntry()
                return answer(response)
            }
            convert(.stored)
            client.write(response)
            loop.finalResponseGiven(self)
        case .duplicate(let id, let view):
            answer(conversion.response(id, view))
            run.cancel()
            ended(as: .cancelled)
        case .keyReused, .unknownParent:
            guard let problem = Problem(result) else { return }
            forgetWithheld()
            run.cancel()
            fail(problem)
        // The client keeps waiting, as long as it may. If it is unknown whether the ticket is on disk, the next insertion replaces
        // the first one: a successful commit undoes the failed commits before it.
        case .notStored, .refused: askForTicketLater()
        case .draining, .gone: break
        }
    }

    private func acceptedAtOnce(_ result: AcceptanceResult, _ conversion: TicketConversion) {
        if let id = result.ticket { keySearch?.end(.ticket(id)) }
        switch result {
        case .accepted(let id, let view): answer(conversion.response(id, view))
        case .duplicate(let id, _): conversion.answerAgain(id)
        case .keyReused, .refused, .draining, .unknownParent, .notStored, .gone:
            guard let problem = conversion.problem(result) else { return }
            // If it is not known whether the ticket is in the store, that is the outcome of the others too.
            if !result.abandonsBody { keySearch?.end(KeyOutcome(OwnResponse(problem, of: loop))) }
            failUnsent(problem)
        }
    }

    /// The store has accepted or refused the ticket that was asked for before the store became the recipient.
    private func adoptionEnded(_ result: AcceptanceResult) {
        if let id = result.ticket { keySearch?.end(.ticket(id)) }
        switch machine.adoptionEnded(result.adoption) {
        case .rest: rest()
        case .tellOthers: responseIsNotStored()
        case .cancel:
            forgetWithheld()
            run.cancel()
            ended(as: .cancelled)
        case .none: break
        }
    }

    /// Ends the key search of a request whose response is not kept, because the request became no ticket. The others with its key get a
    /// problem: the request must not be sent again for them.
    func responseIsNotStored() {
        keySearch?.end(KeyOutcome(OwnResponse(.responseNotKept, of: loop)))
    }

    // MARK: Others with its key

    /// Looks for an equal request, because the client gave a key.
    func findDuplicate(_ digest: PayloadDigest) {
        machine.keySearchBegan()
        let search = DuplicateKeySearch(loop)
        isSearched(by: search)
        // The store inserts a request that is accepted at once, before it is sent.
        let isInserted = machine.isAcceptedAtOnce
        if isInserted { search.kept = self }
        let payload = isReceivingRequest ? nil : digest.mark.payload
        loop.engine.post(.asked(search.claim, key: digest.key, payload: payload, isInserted ? .repeatedByInsertion : .needed, self))
    }

    /// The engine has decided which request with the key is sent.
    func decided(_ decision: KeyDecision) {
        guard let keySearch else { return }
        defer { keySearch.kept = nil }
        if case .offerTicket = decision {
            if !machine.isAcceptedAtOnce { othersWantTicket() }
            return
        }
        if case .shared = decision { return readOnForOthers() }
        if case .unshared = decision { return othersLeft() }
        guard phase == .searching(.duplicateKey) else { return }
        let isInputClosed = client?.connection?.isInputClosed == true
        switch decision {
        case .go: follow(machine.keyIsFree(), keySearch)
        case .join: follow(machine.keyIsTaken(.outcome, isInputClosed: isInputClosed), keySearch)
        // An equal request may be a ticket already, so nothing is sent until the store can be searched.
        case .waitForStore(let failure):
            keySearch.storeFailure = failure
            follow(machine.keyIsTaken(.store, isInputClosed: isInputClosed), keySearch)
        case .storeUnknown(let failure): failSearch(.keyUnknown(failure))
        case .outcome(let outcome, let payload):
            keySearch.given = (outcome, payload)
            follow(machine.outcomeCame(), keySearch)
        case .reused: fail(.keyReused)
        case .refused(let limit, let value): fail(.limit(limit, value))
        case .offerTicket, .shared, .unshared: break
        }
    }

    private func follow(_ step: KeySearch.Step, _ search: DuplicateKeySearch) {
        if !machine.awaitsKey { search.stopTimer() }
        switch step {
        case .accept: acceptAtOnce()
        case .attempt: tryAtOnce()
        case .attemptAsTicket:
            tryAtOnce()
            askForTicket()
        case .answerCutOff: answerIfCutOff()
        case .wait:
            conversion?.startTimer()
            wait(search)
        case .waitForTicket:
            loop.engine.post(.waitEnded(search.claim))
            wait(search)
        case .leave:
            // The exchange lets its client go.
            let connection = client?.connection
            clientLeft()
            connection?.linger()
        case .compare: compare()
        case .none: break
        }
    }

    private func wait(_ search: DuplicateKeySearch) {
        // The wait needs a limit of its own: the request that is sent may have none, if its client has left or its response has no end.
        search.startTimer(machine.attempts.policy.holdMax) { [weak self] in self?.keyWaitIsOver() }
        // Only the whole body shows whether the requests are equal.
        client?.sendContinue(in: phase)
    }

    private func keyWaitIsOver() {
        guard machine.awaitsKey else { return }
        let storeFailure = machine.awaitsOutcome ? nil : keySearch?.storeFailure
        failSearch(storeFailure.map { .keyUnknown($0) } ?? .equalRequestUnderWay)
    }

    /// Nothing of it was sent. This request may hold the key by now: the end of its wait is no outcome for the others.
    private func failSearch(_ problem: Problem) {
        keySearch?.end(nil)
        fail(problem)
    }

    private func compare() {
        conversion?.stopTimers()
        dropBody()
        client?.sendContinue(in: phase)
        if isReceivingRequest { client?.connection?.resumeBody() } else { useOutcome() }
    }

    /// The request is complete.
    ///
    /// - Returns: Whether the outcome of another one is used.
    func isAnsweredByOutcome() -> Bool {
        guard let keySearch else { return false }
        if keySearch.given != nil {
            useOutcome()
            return true
        }
        if let digest = conversion?.digest { loop.engine.post(.completed(keySearch.claim, payload: digest.mark.payload)) }
        return false
    }

    /// The request is complete, and another one with its key has come to something.
    private func useOutcome() {
        guard machine.hasOutcome, let (outcome, payload) = keySearch?.given else { return }
        guard conversion?.digest?.mark.payload == payload else { return fail(.keyReused) }
        switch outcome {
        case .ticket(let id): conversion?.answerAgain(id)
        case .own(let status, let fields, let body): answer(OwnResponse(status: status, fields: fields, body: body))
        case .answer(let shared) where shared.isBodyLost: fail(.responseNotKept)
        case .answer(let shared):
            give { client in
                keySearch?.end(nil)
                loop.finalResponseGiven(self)
                client.give(shared)
            }
        }
    }
}

extension AcceptanceResult {
    /// The result for a request whose client is gone.
    fileprivate var adoption: ExchangeMachine.AdoptionResult {
        switch self {
        case .accepted: .stored
        case .refused, .draining, .notStored, .gone: .refused
        case .duplicate, .keyReused, .unknownParent: .pointless
        }
    }
}
