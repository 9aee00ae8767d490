import LayoverCore
import LayoverEngine
import NIOCore
import Synchronization

/// The end of a client: it leaves, its entry ends, or the proxy is being stopped.
extension ClientRecipient {
    func left(_ exchange: Exchange) {
        hasLeft()
        loop.finalResponseGiven(self)
        if isReceivingRequest { exchange.request.body?.breakOff() }
        if adopt(exchange) { return }
        // It is accepted all the same.
        if isBeingAccepted(exchange) { return }
        // The response is here and the client has sent its request: the rest of that goes to the origin.
        if exchange.phase.isDelivering, response.onlyNeedsRequestSent, !isReceivingRequest { return exchange.sendRestUnattended() }
        exchange.clientLeft(isComplete: !isReceivingRequest)
    }

    /// Whether all of a request has come that becomes a ticket before any attempt.
    private func isBeingAccepted(_ exchange: Exchange) -> Bool {
        guard exchange.conversion?.isAtOnce == true, !isReceivingRequest else { return false }
        return switch exchange.phase {
        case .collecting, .searching, .accepting: true
        case .loading, .preflight, .attempting, .offering, .parked, .delivering, .unattended, .ended: false
        }
    }

    // MARK: Going on without the client

    /// Whether what the client leaves behind goes on as a ticket (policy `clientGone: adopt`).
    func goesOn(_ exchange: Exchange) -> Bool {
        let policy = exchange.machine.rules.policy
        return policy.clientGone == .adopt && policy.mode != .pass && loop.rules.keepsTickets
            && exchange.request.purpose == .transfer && exchange.machine.resumable == nil
    }

    /// Whether the client has closed its side while it could still be answered, and what is left of the request goes on without it.
    func isLeftBehind(_ exchange: Exchange) -> Bool {
        connection?.isInputClosed == true && goesOn(exchange) && !isReceivingRequest && exchange.request.adoptionObstacle == nil
    }

    /// The client has closed its side, and its request would have to wait now.
    func clientClosedWhileWaiting(_ exchange: Exchange, _ failure: Failure?, _ parking: Verdict.Parking) {
        if isLeftBehind(exchange) {
            exchange.post(failure, parking)
            exchange.rest()
            _ = adopt(exchange)
        } else if let failure, exchange.machine.resumable != nil {
            // No other response can follow what has begun.
            return exchange.recipient.breakOff(failure, of: exchange)
        } else if let failure {
            // It wanted one response, not a wait.
            return exchange.fail(failure, .pass)
        } else {
            left(exchange)
        }
        connection?.linger()
    }

    /// - Returns: Whether the request goes on as a ticket without a client.
    private func adopt(_ exchange: Exchange) -> Bool {
        guard goesOn(exchange), !isReceivingRequest, exchange.phase.isPending else { return false }
        // mutant: head-without-body
        if let obstacle = exchange.request.adoptionObstacle {
            // It ends as under `cancel`, and the reason is recorded: its client expects it to be done.
            loop.engine.post(.notAdopted(exchange.joinedEntry(), obstacle))
            return false
        }
        let conversion = TicketConversion.of(exchange)
        conversion.ask()
        conversion.convert(isStored: false)
        return true
    }

    // MARK: The end of the entry

    /// The engine has taken the entry out of the set already.
    func entryEnded(_ end: EntryEnd, _ retryAfter: Duration?, of exchange: Exchange) {
        let (phase, id) = (exchange.phase, exchange.entry)
        var problem = Problem.ended(end, lastFailure: exchange.lastFailure)
        if phase == .ended || phase == .delivering || phase == .unattended {
            // The client is answered already; those that asked for the same are told. The request was sent for them, too.
            var problem = problem
            problem.recall(exchange.machine.rules.counts)
            problem.noteSent()
            exchange.keySearch?.end(KeyOutcome(OwnResponse(problem, identity: loop.rules.identity)))
        }
        if let id { exchange.leaveSet(id) }
        if phase == .offering, end == .draining { return exchange.deliverOffered() }
        exchange.forgetOffered()
        if exchange.run.hasBegunSending { exchange.machine.rules.wasCutOffSending() }
        // mutant: cancel-goes-on
        exchange.run.cancel(evidenceFor: id)
        if phase == .ended { return }
        if phase == .unattended {
            exchange.machine.ended()
            return exchange.close()
        }
        exchange.request.body?.breakOff()
        if phase == .delivering {
            exchange.machine.ended()
            // mutant: silent-cancel
            response.breakOff()
            return
        }
        problem.entry = id.map(loop.engine.naming.shown)
        // No Retry-After for cancelled and settled requests, nor for those that may have been applied.
        switch end {
        case .cancelled, .settled, .superseded, .maybeApplied, .unattended: break
        case .expired: problem.retryAfter = retryAfter
        case .draining: problem.retryAfter = retryAfter ?? .seconds(5)
        }
        problem.recall(exchange.machine.rules.counts)
        answer(OwnResponse(problem, identity: loop.rules.identity), exchange)
    }

    // MARK: The stop of the proxy

    /// - Returns: Whether the client has its final response, or gets none.
    func cutOff(_ exchange: Exchange) -> Bool {
        switch exchange.phase {
        case .delivering, .unattended, .ended:
            // Those that asked for the same must not wait for what will not come.
            exchange.keySearch?.end(KeyOutcome(OwnResponse(.cutOff(mayHaveBeenSent: true), identity: loop.rules.identity)))
            return true
        case _ where isBeingAccepted(exchange):
            // What is being stored is waited for.
            return false
        case .searching where exchange.keySearch?.hasJoined == true:
            // The outcome of the one that goes is the final response here, too.
            exchange.conversion?.isCutOff = true
            return false
        case .loading, .attempting, .offering, .parked, .collecting, .searching, .accepting, .preflight:
            let mayBeTicket = !isReceivingRequest && exchange.phase.isPending && exchange.request.purpose == .transfer
            if mayBeTicket, exchange.conversion?.cutOff() == true { return false }
            answerCutOff(exchange)
            return true
        }
    }

    /// There is no ticket for it after all.
    func answerIfCutOff(_ exchange: Exchange) {
        guard exchange.conversion?.isCutOff == true else { return }
        answerCutOff(exchange)
        loop.finalResponseGiven(self)
    }

    func answerCutOff(_ exchange: Exchange) {
        guard exchange.phase != .delivering, exchange.phase != .unattended, exchange.phase != .ended else { return }
        let mayHaveBeenSent = exchange.machine.rules.counts.mayHaveBeenApplied || exchange.run.hasBegunSending
        exchange.forgetOffered()
        exchange.run.cancel()
        exchange.request.body?.breakOff()
        fail(.cutOff(mayHaveBeenSent: mayHaveBeenSent), exchange)
    }
}

extension UpstreamRequest {
    /// Why it cannot go on without its client. Nil: all of its body is kept for as many attempts as it takes.
    var adoptionObstacle: AdoptionObstacle? {
        guard let body else { return nil }
        if body.isTooLong { return .bodyTooLong }
        return body.summary == .captured ? nil : .bodyNotKept
    }
}
