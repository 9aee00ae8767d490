/// The client of an exchange: it asks, others may ask the same, it may leave, and it is answered when the entry or the proxy ends.
extension ExchangeMachine {
    // MARK: The first step

    /// The state of the loop when a request may go for the first time.
    package struct Arrival: Sendable {
        /// The trouble of the request's origin or parent proxy; nil if there is none.
        package var notice: OriginNotice?
        package var isInLane: Bool
        /// Whether the store, and with it the tickets of its lane, has not been read yet.
        package var areLanesUnknown: Bool
        package var isOffline: Bool

        package init(notice: OriginNotice?, isInLane: Bool = false, areLanesUnknown: Bool = false, isOffline: Bool = false) {
            self.notice = notice
            self.isInLane = isInLane
            self.areLanesUnknown = areLanesUnknown
            self.isOffline = isOffline
        }

        /// Whether nothing keeps it from its first attempt.
        package var isUntroubled: Bool { notice == nil && !areLanesUnknown }
    }

    package enum FirstStep: Sendable, Hashable {
        case attempt
        /// The attempt is counted in the window of its origin, because entries wait there.
        case countedAttempt
        /// The engine says when it goes: it is behind a shut gate, in a pause, or maybe behind others of its lane.
        case wait
        /// As `wait`. Its client may want a ticket then, because the origin is away.
        case waitForOrigin
        /// A person set the mode `offline`, and the request cannot wait.
        case failOffline
    }

    package func firstStep(_ arrival: Arrival) -> FirstStep {
        let mayWait = attempts.policy.mode != .pass
        if mayWait, arrival.isInLane, arrival.areLanesUnknown { return .wait }
        guard let notice = arrival.notice else { return .attempt }
        if mayWait, notice.parks(attempts.policy, isInLane: arrival.isInLane) { return notice == .shut ? .waitForOrigin : .wait }
        switch notice {
        case .shut where arrival.isOffline: return .failOffline
        case .watched, .paused, .shut: return .countedAttempt
        case .forgotten: return .attempt
        }
    }

    // MARK: The client leaves

    /// The state of a request whose client is gone, or may be. Contract: section 2 of the semantics, "When a client is gone".
    package struct Departure: Sendable {
        package var purpose: RequestPurpose
        package var method: String
        /// Whether all of its body has come.
        package var isComplete: Bool
        /// Whether a byte of it may have left.
        package var hasBegunSending: Bool
        /// Whether requests with the same key may be waiting for the response that has begun.
        package var mayBeShared = false
        /// Whether the response is here, but for an end that is withheld until the request is sent.
        package var onlyNeedsRequestSent = false
        /// Whether tickets are kept.
        package var storesTickets = false
        /// Why the request can be no ticket; nil if it can be one.
        package var adoptionObstacle: AdoptionObstacle?

        package init(purpose: RequestPurpose, method: String, isComplete: Bool, hasBegunSending: Bool) {
            self.purpose = purpose
            self.method = method
            self.isComplete = isComplete
            self.hasBegunSending = hasBegunSending
        }
    }

    /// Consequence of a client that is gone.
    package enum DepartureStep: Sendable, Hashable {
        /// The request goes on as a ticket.
        case adopt
        /// The request would go on as a ticket, but cannot. The reason is recorded, because the client expects it to be done.
        indirect case notAdopted(AdoptionObstacle, then: DepartureStep)
        /// The acceptance of its ticket goes on.
        case accept
        /// The exchange ends, and an attempt under way is aborted.
        case end
        /// The attempt goes on until the head of its response, and no longer than this unless others wait for its outcome.
        case unattended(Duration)
        /// The rest of the request goes to the origin, within this time.
        case sendRest(Duration)
        /// The response goes on, as long as others wait for it.
        case share
        /// The client was gone before.
        case none
    }

    package mutating func clientLeft(_ departure: Departure) -> DepartureStep {
        guard phase.isPending, departure.isComplete, adoptsOnLeave(departure.purpose, storesTickets: departure.storesTickets) else {
            return leftWithoutTicket(departure)
        }
        // mutant: head-without-body
        let obstacle = departure.adoptionObstacle
        if let obstacle { return .notAdopted(obstacle, then: leftWithoutTicket(departure)) }
        return .adopt
    }

    private mutating func leftWithoutTicket(_ departure: Departure) -> DepartureStep {
        switch phase {
        case .collecting, .searching, .accepting: return isAcceptedAtOnce && departure.isComplete ? .accept : .end
        case .attempting:
            let limit = attempts.policy.unattendedMax
            // mutant: safe-without-a-client
            guard mayHaveAnEffect(departure), resumable == nil, limit > .zero || holdsKey else { return .end }
            enter(.unattended)
            // mutant: unattended-too-long
            return .unattended(limit)
        case .delivering where departure.onlyNeedsRequestSent && departure.isComplete:
            enter(.unattended)
            let limit = attempts.policy.unattendedMax
            // `timeouts.unattended` of 0 is for work that nobody wants any more. A success may have been reported for this request.
            return .sendRest(limit > .zero ? limit : Policy.standard.unattendedMax)
        case .delivering:
            // mutant: read-for-nobody
            guard departure.mayBeShared, departure.purpose == .transfer else { return .end }
            enter(.unattended)
            return .share
        case .loading, .preflight, .withholding, .parked: return .end
        case .unattended, .ended: return .none
        }
    }

    /// Whether the attempt under way may have an effect at the origin that is not known yet.
    private func mayHaveAnEffect(_ departure: Departure) -> Bool {
        // mutant: incomplete-without-a-client, unsent-without-a-client
        guard departure.isComplete, departure.hasBegunSending else { return false }
        return departure.purpose == .transfer && !RequestMethod.isSafe(departure.method)
    }

    /// The attempt has failed that went on without its client. No other attempt follows.
    ///
    /// - Returns: The failure as it is recorded.
    package mutating func unattendedFailed(_ failure: Failure, at now: Timestamp) -> Failure {
        var failure = failure
        if attempts.isAborted { failure.becomeAborted() }
        if failure.evidence == .maybeApplied { attempts.wasCutOffSending() }
        lastFailure = failure
        record(nil, failure: failure, at: now)
        return failure
    }

    // MARK: Going on as a ticket

    /// Whether the request becomes a ticket when its client leaves (policy `clientGone: adopt`), if all of it can be kept.
    package func adoptsOnLeave(_ purpose: RequestPurpose, storesTickets: Bool) -> Bool {
        let policy = attempts.policy
        return policy.clientGone == .adopt && policy.mode != .pass && storesTickets && purpose == .transfer && resumable == nil
    }

    /// Step if a request would have to wait although its client has closed its side. Such a client wants one response, not a wait.
    package enum ClosedInputStep: Sendable, Hashable {
        /// The request waits as a ticket.
        case adopt
        /// No other response can follow what has begun.
        case breakOff(Failure)
        case fail(Failure)
        /// Nothing was tried, so there is nothing to say.
        case leave
    }

    /// - Parameter failure: The failure of the last attempt; nil if no attempt was made.
    package func wouldWaitBehindClosedInput(_ departure: Departure, after failure: Failure?) -> ClosedInputStep {
        if isLeftBehind(departure) { return .adopt }
        guard let failure else { return .leave }
        return resumable == nil ? .fail(failure) : .breakOff(failure)
    }

    /// Whether a request whose client has closed its side goes on without it. Until its attempt has failed its client may be answered.
    package func isLeftBehind(_ departure: Departure) -> Bool {
        departure.isComplete && departure.adoptionObstacle == nil
            && adoptsOnLeave(departure.purpose, storesTickets: departure.storesTickets)
    }

    /// Whether a client that closes its side has left. During the first attempt its response is still delivered.
    package func hasLeft(closingInputOf departure: Departure, isEntry: Bool) -> Bool {
        !departure.isComplete || phase == .parked || awaitsKey && !isAcceptedAtOnce || isEntry && phase == .attempting
    }

    // MARK: The end of the entry, and of the proxy

    /// Consequence for the client of an entry that the engine has taken out of the set.
    package enum EntryEndStep: Sendable, Hashable {
        /// The client gets the response in hand.
        case deliver
        case answer
        /// The response has begun, and is broken off.
        case breakOff
        /// The client has left, and the exchange ends.
        case close
        /// The client was answered before.
        case none
    }

    /// - Parameter hasBegunSending: Whether a byte of the attempt under way may have left.
    package mutating func entryEnded(_ end: EntryEnd, hasBegunSending: Bool) -> EntryEndStep {
        let step = step(after: end)
        if step != .deliver, hasBegunSending { attempts.wasCutOffSending() }
        if step == .close || step == .breakOff { enter(.ended) }
        return step
    }

    private func step(after end: EntryEnd) -> EntryEndStep {
        switch phase {
        // mutant: response-in-hand-lost
        case .withholding where end == .draining: .deliver
        case .loading, .collecting, .searching, .accepting, .preflight, .attempting, .withholding, .parked: .answer
        case .delivering: .breakOff
        case .unattended: .close
        case .ended: .none
        }
    }

    /// Whether the client has its response or a part of it, or is gone. Others with its key are told what comes of the request instead.
    package var isOverForClient: Bool { phase == .ended || phase == .delivering || phase == .unattended }

    /// The stop of the proxy, as the request knows of it.
    enum Stop: Sendable {
        case none
        /// The client waits for its ticket, or for the outcome of another request. Nothing else is done for it.
        case lastWordIsDue
    }

    /// Whether the proxy is being stopped, and the client gets its ticket, the outcome of another request, or the response that says so.
    package var isLastWordDue: Bool { stop == .lastWordIsDue }

    /// Consequence of the stop of the proxy for a client without a response.
    package enum CutOffStep: Sendable, Hashable {
        /// Nothing is left to wait for. Requests with the same key must not wait for what will not come.
        case none
        /// The request is being stored; then the client is told of its ticket.
        case waitForStore
        /// The outcome of the one that goes is the final response here, too.
        case waitForOutcome
        /// A client that takes a ticket gets one; any other is answered.
        case offerTicket
        case answer
    }

    package mutating func cutOff(_ departure: Departure) -> CutOffStep {
        switch phase {
        case .delivering, .unattended, .ended: return .none
        case .collecting, .searching, .accepting:
            if isAcceptedAtOnce, departure.isComplete { return .waitForStore }
            guard awaitsOutcome else { return .answer }
            stop = .lastWordIsDue
            return .waitForOutcome
        case .attempting, .withholding, .parked:
            guard departure.isComplete, departure.purpose == .transfer, mayEndAsTicket else { return .answer }
            stop = .lastWordIsDue
            return .offerTicket
        case .loading, .preflight: return .answer
        }
    }

    // MARK: Others with its key

    private var isSearchingKey: Bool { phase == .searching(.duplicateKey) }

    /// Whether the request waits for the outcome of another one.
    package var awaitsOutcome: Bool { isSearchingKey && key.awaitsOutcome }
    /// Whether the request waits for an outcome or for the store, and nothing of it was sent.
    package var awaitsKey: Bool { isSearchingKey && key.isWaiting }
    /// Whether the request holds its key: of all with this key it is the one that is sent.
    package var holdsKey: Bool { key.isReserved }
    /// Whether the outcome of another request is its own, if the payloads are the same.
    package var hasOutcome: Bool { isSearchingKey && key.hasOutcome }

    /// Other requests with its key are looked for.
    package mutating func keySearchBegan() { enter(.searching(.duplicateKey)) }

    /// The request is the one of its key that is sent.
    package mutating func keyIsFree() -> KeySearch.Step {
        guard isSearchingKey else { return .none }
        let isTicketDue = key.isFree()
        if isAcceptedAtOnce { return .accept }
        if isLastWordDue { return .answerCutOff }
        return isTicketDue ? .attemptAsTicket : .attempt
    }

    /// Another request of the key goes, or the store says nothing of the key.
    ///
    /// - Parameter isInputClosed: Whether its client has closed its side.
    package mutating func keyIsTaken(_ awaited: KeySearch.Awaited, isInputClosed: Bool) -> KeySearch.Step {
        guard isSearchingKey else { return .none }
        return key.isTaken(awaited, isInputClosed: isInputClosed, isAcceptedAtOnce: isAcceptedAtOnce)
    }

    /// The outcome of another request is there.
    package mutating func outcomeCame() -> KeySearch.Step {
        guard isSearchingKey else { return .none }
        key.outcomeCame()
        return .compare
    }

    /// The client has waited as long as it wants.
    ///
    /// - Returns: Whether the request waits for its key, so that the engine is told.
    package mutating func keyWaitEnded() -> Bool { isSearchingKey && key.waitEnded() }
}
