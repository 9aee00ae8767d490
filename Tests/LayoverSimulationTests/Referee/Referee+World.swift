@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy

/// The real results of requests, as upstreams and clients saw them.
extension Referee {
    // MARK: Upstream

    func started(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        simulation.count("attempts")
        truth.startCount += 1
        truth.runningCount += 1
        if let exchange = attempt.attempt.receiver as? Exchange { note(exchange, truth) }
        childrenFollowTheirParents(attempt)
        lanesWaitForTheStore(attempt)
        keysOfTicketsAreFound(attempt)
        oneAttemptAtATime(attempt)
        nothingSettledStartsAgain(attempt)
        automaticAttemptsAreLimited(attempt)
    }

    private func oneAttemptAtATime(_ attempt: SimulatedAttempt) {
        if attempt.truth.runningCount > 1 {
            breach("oneAttemptAtATime", "\(attempt.name) starts while another is under way")
        }
    }

    private func automaticAttemptsAreLimited(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        // Whatever makes it in the end, when it had to wait: the word of a person is behind it.
        if truth.forceCount > 0 {
            truth.forceCount -= 1
            attempt.isForced = true
        }
        guard attempt.trigger.isAutomatic else {
            if !truth.isAskedFor { breach("onlyRequestedAttemptsAreManual", attempt.name) }
            truth.isAskedFor = false
            truth.isOwedAttempt = false
            truth.goesAsAsked = true
            return
        }
        // What a person asked for and the store did not let begin is made once more by itself, as an automatic attempt.
        if truth.isOwedAttempt {
            truth.isOwedAttempt = false
            truth.madeCount += 1
            return
        }
        truth.goesAsAsked = false
        truth.automaticCount += 1
        truth.madeCount += 1
        // One more where a kept-alive connection had died.
        // What an earlier life had not written down it has not counted.
        if let limit = truth.automaticMax, !truth.hasSeenDeath, !truth.hasTwins, truth.automaticCount > limit + 1 {
            breach(
                "automaticAttemptsAreLimited",
                "\(attempt.name) is automatic attempt \(truth.automaticCount) of \(limit)")
        }
    }

    /// A byte of the request is about to reach the upstream.
    func sent(_ attempt: SimulatedAttempt) {
        startRecordsAreStoredBeforeSending(attempt)
        nothingUnrepeatableIsSentTwice(attempt)
        nothingIsSentWithoutItsBody(attempt)
        nothingCancelledIsSent(attempt)
        attempt.truth.sendings.append(attempt.attempt.number)
    }

    private func nothingUnrepeatableIsSentTwice(_ attempt: SimulatedAttempt) {
        let truth = attempt.truth
        guard !truth.sendings.isEmpty, !attempt.isRepeatable else { return }
        simulation.count("forced sendings")
        // A force is for one attempt; whatever comes of that, the next one needs another.
        if !attempt.isForced {
            breach(
                "nothingUnrepeatableIsSentTwice",
                "\(attempt.name) \(truth.method), sent before by \(truth.sendings)")
        }
    }

    /// A request with a lost body is not sent: no origin gets a head whose body does not follow.
    private func nothingIsSentWithoutItsBody(_ attempt: SimulatedAttempt) {
        if !attempt.isCancelled, attempt.attempt.request.body?.summary == .lost {
            breach("nothingIsSentWithoutItsBody", attempt.name)
        }
    }

    func took(_ bytes: ArraySlice<UInt8>, at offset: Int, of attempt: SimulatedAttempt) {
        for (index, byte) in bytes.enumerated() where byte != attempt.truth.bodyByte(at: offset + index) {
            return breach("bodiesArriveUnchanged", "\(attempt.name) at byte \(offset + index)")
        }
    }

    func tookAll(_ count: Int, of attempt: SimulatedAttempt) {
        if count != attempt.truth.bodyByteCount {
            breach(
                "bodiesArriveComplete", "\(attempt.name): \(count) of \(attempt.truth.bodyByteCount ?? 0) bytes")
        }
    }

    func cancelled(_ attempt: SimulatedAttempt) {
        attempt.truth.runningCount -= 1
        if attempt.hasHead { attempt.truth.hasBrokenResponse = true }
    }

    func failed(_ attempt: SimulatedAttempt, _ evidence: Evidence) {
        attemptsStartOver(attempt)
        if attempt.hasHead { attempt.truth.hasBrokenResponse = true }
        // What a person asked for may be made anew as such, on a network or a connection that is not dead.
        if evidence == .neverSent || attempt.isReusingConnection, attempt.truth.goesAsAsked {
            attempt.truth.isAskedFor = true
        }
        guard evidence == .neverSent else { return }
        if attempt.isForced { attempt.truth.unusedForceCount += 1 }
        guard isToBeRepeated(attempt) || attempt.wasNotMarked else { return }
        if attempt.isForced { attempt.truth.giveBackForces() }
        if attempt.wasNotMarked, attempt.trigger.isAutomatic { attempt.truth.madeCount -= 1 }
        guard !attempt.truth.goesAsAsked else {
            attempt.truth.isOwedAttempt = attempt.wasNotMarked
            return
        }
        attempt.truth.automaticCount -= 1
    }

    /// True if the network changed while the attempt was connecting: it does not count then, and is repeated.
    private func isToBeRepeated(_ attempt: SimulatedAttempt) -> Bool {
        let exchange = attempt.attempt.receiver as? Exchange
        guard exchange?.machine.attempts.isAbandoned != true, let id = exchange?.entry else {
            return exchange?.machine.attempts.isAbandoned == true
        }
        return simulation.engine.assumeIsolated { $0.pending.entries[id] }?.attempt?.isAbandoned == true
    }

    func ended(_ attempt: SimulatedAttempt) {
        if !attempt.isCancelled { attempt.truth.runningCount -= 1 }
    }

    // MARK: Downstream

    func answerBegan(_ response: ResponseReader.Response, client: SimulatedClient) {
        answersComeInOrder(response, client)
        simulation.responseBegan(response, client)
    }

    private func answersComeInOrder(_ response: ResponseReader.Response, _ client: SimulatedClient) {
        guard let current = client.current else {
            return breach(
                "everyClientGetsOneAnswer", "c\(client.number) gets \(response.status) and has asked nothing")
        }
        let expected = (current.original ?? current).number
        if let number = response.requestNumber, number != expected, current.question == nil {
            breach(
                "answersComeInOrder", "c\(client.number) gets the answer to r\(number) for r\(current.number)"
            )
        }
    }

    func answered(_ response: ResponseReader.Response, client: SimulatedClient) {
        guard let truth = client.current else { return }
        truth.answerCount += 1
        ticketAnnounced(response, truth)
        if let question = truth.question { answered(question, response) }
        if response.fields["proxy-status"]?.contains("identical request") == true { simulation.count("shared answers") }
        simulation.count(response.requestNumber == nil ? "own answers" : "answers")
        if truth.download.restCount > 0 { simulation.count("resumed answers") }
        if truth.answerCount > 1 { breach("everyClientGetsOneAnswer", "r\(truth.number) is answered twice") }
        if response.requestNumber != nil, response.fields["x-length"] != "\(response.bodyByteCount)" {
            breach(
                "answersArriveWhole",
                "r\(truth.number): \(response.bodyByteCount) bytes of \(response.fields["x-length"] ?? "")")
        }
        // A policy that a reload took away is a bad name, and is told so.
        if response.status == 400, truth.policyName == nil {
            breach("nothingGoodIsRefused", "r\(truth.number) gets 400")
        }
    }

    func closedByProxy(_ client: SimulatedClient) {
        // Bytes that the client never took are lost with a later response that broke.
        guard client.isTakingAll, let truth = client.current, !client.sawClose, !client.hasClosedOutput,
            truth.isSent
        else { return }
        simulation.count("broken answers")
        whatCanGoOnGoesOn(truth, client)
        // A stopping proxy does not process pipelined requests that it has not begun (RFC 9112 section 9.3.2).
        let first = truth.original ?? truth
        // A repetition has its own exchange, and the attempts of the first one say nothing about it: it was not begun where the answer
        // before it came after the stop had begun.
        if simulation.isDraining, first.startCount == 0 || client.wasAnsweredInDrain || simulation.isCuttingOff { return }
        // Requests pipelined behind a broken response are lost with it, even if all their bytes arrived.
        if !client.answered.contains(where: { ($0.original ?? $0).hasBrokenResponse }), !first.hasBrokenResponse {
            breach(
                "everyClientGetsOneAnswer",
                "c\(client.number) is closed without an answer to r\(truth.number)")
        }
    }
}
