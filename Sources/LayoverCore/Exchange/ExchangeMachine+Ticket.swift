/// How an exchange becomes a ticket: at once, when its client has waited as long as it wants, or when its client has left.
extension ExchangeMachine {
    /// When the client takes a ticket in place of the response.
    package enum TicketMoment: Sendable, Hashable {
        /// Never. The request may go on as a ticket when its client has left.
        case never
        /// Before any attempt.
        case atOnce
        /// When the client has waited as long as it wants.
        case afterWait
        /// When the client's time on the connection is over.
        case atEnd
        /// When the origin is away.
        case whenAway
        /// As `whenAway`, and the origin is away.
        case away
    }

    /// How far the request has come on its way to a ticket.
    package enum TicketProgress: Sendable, Hashable {
        case none
        /// The body is read to its end before anything else is done: an origin must never get the tokens themselves.
        case readingBody
        /// The client's time came before the request was complete.
        case due
        /// The engine is asked, or the body is on its way to the disk.
        case asked
        /// The engine was asked, and the store may have it or not. The engine may be asked again.
        case inDoubt
        /// As `asked`, after a doubt.
        case askedAgain
        /// The engine is not asked again.
        case answered
    }

    package var isAcceptedAtOnce: Bool { ticketMoment == .atOnce }

    /// Whether the engine is not to be asked for a ticket, because it is asked now or has answered.
    package var hasAskedForTicket: Bool {
        switch ticketProgress {
        case .asked, .askedAgain, .answered: true
        case .none, .readingBody, .due, .inDoubt: false
        }
    }

    private var wasInDoubt: Bool { ticketProgress == .inDoubt || ticketProgress == .askedAgain }

    package var isTicketDue: Bool { ticketProgress == .due }

    // MARK: The body

    /// A request begins whose body may have tokens, by its type.
    ///
    /// - Parameter isOverMax: Whether it is too long for a ticket.
    /// - Returns: Whether the body is read to its end before the first attempt.
    package mutating func readsBodyFirst(isComplete: Bool, isOverMax: Bool) -> Bool {
        guard phase == .collecting(for: .attempt), !isComplete, !isOverMax else { return false }
        ticketProgress = .readingBody
        return true
    }

    /// Consequence of the end of a body that was waited for.
    package enum BodyStep: Sendable, Hashable {
        case replaceTokens
        /// As `replaceTokens`. What waits for another ticket is not tried first: it is accepted, and its client is told.
        case chooseTicket
        case attempt
        /// The exchange has ended meanwhile.
        case none
    }

    /// All of the body is there.
    ///
    /// - Returns: Nil if nothing waited for the body.
    package mutating func bodyWasRead(hasTokens: Bool) -> BodyStep? {
        guard phase == .collecting(for: .ticket) || ticketProgress == .readingBody else { return nil }
        if ticketProgress == .readingBody { ticketProgress = .none }
        switch phase {
        case .collecting(.ticket): return .replaceTokens
        // mutant: tokens-sent
        case .collecting where hasTokens:
            enter(.collecting(for: .ticket))
            ticketMoment = .atOnce
            return .chooseTicket
        case .collecting: return .attempt
        case .loading, .searching, .accepting, .preflight, .attempting, .withholding, .parked, .delivering, .unattended, .ended:
            return BodyStep.none
        }
    }

    /// Consequence of a body that a limit, or the disk, does not let be kept to its end.
    package enum StuckStep: Sendable, Hashable {
        /// The request can be no ticket, and was to become one.
        case refuse
        /// The failure that it was collected for is judged.
        case judge
        /// The request is tried as one that just waits, and its body waits for room.
        case attempt
        /// The body waits for room.
        case wait
        case none
    }

    package mutating func bodyIsStuck(hasTokens: Bool) -> StuckStep {
        let isBeingRead = ticketProgress == .readingBody
        switch phase {
        case .collecting(.ticket): return .refuse
        case .collecting(.verdict): return .judge
        case .collecting(.attempt) where isBeingRead:
            ticketProgress = .none
            return hasTokens ? .refuse : .attempt
        case .ended: return .none
        case .loading, .collecting, .searching, .accepting, .preflight, .attempting, .withholding, .parked, .delivering, .unattended:
            return .wait
        }
    }

    // MARK: From hold to ticket

    /// Consequence of a ticket that is wanted.
    package enum TicketStep: Sendable, Hashable {
        case ask
        /// The rest of the request is waited for.
        case awaitRequest
        case decline
        /// As `decline`. The engine is asked again later if the client wants that (`asksAgain`).
        case declineForNow
        /// The engine was asked before.
        case none
    }

    /// - Parameter isLast: Whether its time on the connection is over, not only what its client wanted of it. An incomplete request is not
    ///   waited for then.
    package mutating func ticketIsWanted(_ purpose: RequestPurpose, isComplete: Bool, storesTickets: Bool, isLast: Bool) -> TicketStep {
        guard !hasAskedForTicket else { return .none }
        guard phase.isPending, purpose == .transfer, resumable == nil else { return .decline }
        guard storesTickets else { return .declineForNow }
        guard isComplete else {
            guard !isLast else { return .decline }
            ticketProgress = .due
            return .awaitRequest
        }
        ticketProgress = wasInDoubt ? .askedAgain : .asked
        return .ask
    }

    /// No attempt had a response, or none was made because the gate is shut.
    ///
    /// - Returns: Whether its client wants a ticket now.
    package mutating func originWentAway() -> Bool {
        guard ticketMoment == .whenAway || ticketMoment == .away, holder == .client, resumable == nil else { return false }
        ticketMoment = .away
        return true
    }

    /// Whether the engine is asked again after it had no ticket to give: the client goes on waiting on its connection.
    package var asksAgain: Bool {
        switch ticketMoment {
        case .afterWait, .atOnce, .away: holder == .client && phase != .ended
        case .never, .atEnd, .whenAway: false
        }
    }

    /// The disk does not take the body.
    package mutating func ticketBodyWasNotStored() { ticketProgress = wasInDoubt ? .inDoubt : .none }

    /// The engine has answered.
    ///
    /// - Parameters:
    ///   - storesBody: Whether the body is, or may be, that of a ticket in the store. If not, a second try may succeed.
    ///   - isInDoubt: Whether it is not known if the store has the ticket.
    package mutating func ticketWasAnswered(storesBody: Bool, isInDoubt: Bool) {
        // mutant: doubt-is-final
        let mayAskAgain = isInDoubt && holder == .client && phase.isPending
        if storesBody {
            ticketProgress = mayAskAgain ? .inDoubt : .answered
        } else {
            ticketBodyWasNotStored()
        }
    }

    /// Whether a client that has no response when the proxy stops may get a ticket. After a doubt it is told at once that it has none: the
    /// store may not answer in time.
    var mayEndAsTicket: Bool {
        switch ticketProgress {
        case .none, .readingBody, .due, .asked: ticketMoment != .never
        case .inDoubt, .askedAgain, .answered: false
        }
    }

    /// The store has accepted or refused the ticket that was asked for before the store became the holder.
    package enum AdoptionResult: Sendable, Hashable, CaseIterable {
        case stored
        /// The store has no ticket of it, and will have none.
        case refused
        /// Another ticket does the same, or this ticket is not possible. The client is gone, so nobody gets a response.
        case pointless
    }

    package enum AdoptionStep: Sendable, Hashable {
        /// The request waits in the store, and needs no exchange.
        case rest
        /// The exchange has ended. Others with its key must not wait for a ticket that there is not.
        case tellOthers
        case cancel
        case none
    }

    package mutating func adoptionEnded(_ result: AdoptionResult) -> AdoptionStep {
        switch result {
        case .stored:
            holder = .store(.stored)
            return phase == .parked ? .rest : .none
        case .refused:
            holder = .store(.refused)
            return phase == .ended ? .tellOthers : .none
        case .pointless: return phase == .ended ? .tellOthers : .cancel
        }
    }

    // MARK: Others

    /// Others with the same key want a ticket of this request. If its attempt goes on without its client, the attempt becomes that of the
    /// ticket.
    ///
    /// - Parameter isUnderWay: Whether there is an attempt, and nothing of its response has come.
    /// - Returns: Whether it does.
    package mutating func othersWantTicket(_ departure: Departure, isUnderWay: Bool) -> Bool {
        guard phase == .unattended, isUnderWay, !hasAskedForTicket, departure.isComplete, departure.adoptionObstacle == nil,
            departure.storesTickets
        else { return false }
        enter(.attempting)
        return true
    }
}
