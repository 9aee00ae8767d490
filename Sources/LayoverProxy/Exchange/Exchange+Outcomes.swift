import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverOrigin
import NIOCore

/// The first step, the events of attempts, the delivery of responses, failures, the wait, and attempts that go on without a client.
extension Exchange {
    // MARK: The first step

    /// The first attempt, or what comes before it or in place of it.
    func tryAtOnce() {
        if keySearch == nil, let digest = conversion?.digest { return findDuplicate(digest) }
        conversion?.startTimer()
        if isServedOnlyIfCached() { return }
        let arrival = ExchangeMachine.Arrival(
            notice: notice, isInLane: order.lane != nil, areLanesUnknown: loop.configuration.keepsLanesWaiting,
            isOffline: loop.network.isOffline)
        // A call of the machine copies it.
        let step = arrival.isUntroubled ? .attempt : machine.firstStep(arrival)
        switch step {
        case .attempt: startAttempt(.arrival)
        case .countedAttempt:
            run.countAsFresh(request.origin)
            startAttempt(.arrival)
        case .wait, .waitForOrigin:
            serveStale {
                self.park(nil, .init(delay: .zero, shutsGate: false))
                if step == .waitForOrigin { self.originIsAway() }
            }
        case .failOffline: serveStale { self.fail(.offline) }
        }
    }

    // MARK: Upstream events

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        // An attempt that is not ours any more. A connection must not leak, though.
        guard attempt === self.attempt else { return run.receiveLate(event, of: attempt, in: self) }
        switch event {
        case .bodyWanted: client?.sendContinue(in: phase)
        case .bodyUnwanted: client?.requestIsUnwanted()
        case .interim(let head): client?.passOn(interim: head, in: phase)
        case .head(let head, _) where phase.isPreflight: preflightAnswered(head)
        case .head(let head, let sendings): received(head, sendings: sendings)
        case .body, .endWithheld, .complete, .end, .failed:
            if phase.isWithholding { collectWithheld(event) } else { receiveRest(event) }
        case .dialled(let socket):
            guard let client else { return socket.close() }
            client.open(socket, of: self)
        }
    }

    func receiveRest(_ event: UpstreamEvent) {
        switch event {
        case .body(let bytes) where machine.resumable != nil: receiveContinuation(bytes)
        case .body(let bytes) where isUnread: receiveUnread(bytes)
        case .body(let bytes): run.taken(receiveBody(bytes))
        case .endWithheld: client?.endIsWithheld()
        case .complete where machine.resumable != nil: break
        case .complete(let trailers): completeResponse(trailers: trailers)
        case .end where machine.resumable?.isComplete == false: attemptFailed(.partIsOver)
        case .end(let trailers):
            run.end()
            finishResponse(trailers: trailers)
        case .failed where attempt?.isEndUnclosed == true && phase.isDelivering && takesUnclosedEnd:
            run.end()
            finishUnclosedResponse()
        case .failed(let failure): attemptFailed(failure)
        case .bodyWanted, .bodyUnwanted, .interim, .head, .dialled: break
        }
    }

    // MARK: What the recipient gets

    func beginResponse(_ head: ResponseHead) {
        switch recipient {
        case .client(let client):
            cacheUse?.begin(head, to: request, at: run.cacheTimes)
            client.begin(head, of: self)
        case .store(let store): store.begin(head, of: self)
        case .cache(let cache): cache.begin(head, at: run.cacheTimes)
        }
    }

    /// - Returns: How many bytes count as taken now.
    func receiveBody(_ bytes: ByteBuffer) -> Int {
        switch recipient {
        case .client(let client):
            if phase.isDelivering { cacheUse?.append(bytes) }
            return client.receive(bytes, isDelivering: phase.isDelivering)
        case .store(let store): return store.receive(bytes)
        case .cache(let cache):
            cache.append(bytes)
            return bytes.readableBytes
        }
    }

    /// All of the response has come, and the request is still on its way to the origin. `finishResponse` or `breakOffResponse` follows.
    private func completeResponse(trailers: ByteBuffer?) {
        // The store and the cache use a response only once its request was sent.
        if let client, phase.isDelivering { client.complete(trailers: trailers) }
    }

    private func finishResponse(trailers: ByteBuffer?) {
        switch recipient {
        case .client(let client):
            let wasDelivering = phase.isDelivering
            cacheUse?.finish()
            if let shared = client.takeShared() { keySearch?.end(.answer(shared)) }
            ended(as: client.isGone && !client.isDelivered ? .cancelled : .delivered)
            if wasDelivering { client.finish(trailers: trailers) }
        case .store(let store): store.finish(for: self)
        case .cache(let cache):
            cache.finish()
            ended(as: .delivered)
        }
    }

    /// True if the client gets a response without a length whose TLS connection ended without close_notify. The client judges itself
    /// whether the response is complete, as without a proxy. The store and the cache never take such a response for complete.
    private var takesUnclosedEnd: Bool {
        guard let client else { return false }
        let rule = route.flatMap { loop.configuration.routes.route(named: $0) }?.unclosedTLS
        return client.takesUnclosedEnd(isAccepted: rule == .accept)
    }

    private func finishUnclosedResponse() {
        guard let client else { return }
        cacheUse?.discard()
        _ = client.takeShared()
        ended(as: .delivered)
        client.finishUnclosed()
    }

    /// Cut off upstream, so cut off downstream: the recipient must not take a part for the whole.
    func breakOffResponse(_ failure: Failure) {
        switch recipient {
        case .client(let client):
            cacheUse?.discard()
            ended(as: .failed, failure: failure)
            client.breakOff()
        // The part that has come is kept.
        case .store(let store): store.finish(for: self, brokenBy: failure)
        case .cache(let cache):
            cache.discard()
            ended(as: .failed, failure: failure)
        }
    }

    // MARK: Failures

    func attemptFailed(_ failure: Failure) {
        run.end()
        guard !phase.isUnattended else {
            return ended(as: .cancelled, failure: machine.unattendedFailed(failure, at: loop.engine.clock.now()))
        }
        loop.metrics.failedAttemptCount.increment()
        var circumstances = circumstances(isOver: true)
        circumstances.obstacle = obstacle(failure)
        if phase.isDelivering, machine.resumable == nil, store == nil || loop.mayKeepPart { circumstances.part = resumableResponse() }
        follow(machine.attemptFailed(failure, in: circumstances, using: &loop.generator), after: failure)
    }

    /// All of the request has come, or no more of it can be kept: decides what follows the failure before.
    func judgeCollected() {
        guard phase == .collecting(for: .verdict) else { return }
        guard let step = machine.collected(in: circumstances(), using: &loop.generator) else { return }
        if step.endsTheTry { serveStale { self.follow(step) } } else { follow(step) }
    }

    /// - Parameter isOver: Whether the attempt is over. Then it counts whether the client has closed its side.
    func circumstances(isOver: Bool = false) -> ExchangeMachine.Circumstances {
        var circumstances = ExchangeMachine.Circumstances(
            request: summary, network: loop.network.condition, now: loop.engine.clock.now())
        if isOver, client?.connection?.isInputClosed == true { circumstances.closedInput = departure }
        return circumstances
    }

    /// What follows a failure. Where the origin cannot be reached, that may be a response from the cache.
    private func follow(_ step: ExchangeMachine.FailureStep, after failure: Failure) {
        // The callback that says so may have come before the failure.
        if case .collect = step, request.body?.isStuck == true { return judgeCollected() }
        // Under mode `offline` as for a request that arrives then.
        let isOffline = machine.attempts.isAbandonedByMode && failure.evidence == .neverSent
        if step.endsTheTry, machine.resumable == nil, isOffline || RetryCondition.connectivity.matches(failure) {
            serveStale { self.follow(step) }
        } else {
            follow(step)
        }
    }

    private func obstacle(_ failure: Failure) -> ExchangeMachine.Obstacle? {
        guard store != nil else { return nil }
        if run.startRecord?.wasRefused == true, failure.evidence == .neverSent { return .startNotRecorded }
        return request.body?.summary == .brokenOff ? .bodyUnreadable : nil
    }

    func follow(_ step: ExchangeMachine.FailureStep) {
        if case .breakOff(let failure) = step { return breakOffResponse(failure) }
        if case .finish = step { return finishResponse(trailers: nil) }
        discardUnlessResumed()
        switch step {
        case .collect: client?.sendContinue(in: phase)
        case .again(let trigger): startAttempt(trigger, onNewConnection: true, isSameForEngine: true)
        case .park(let failure, let parking): park(failure, parking)
        // A 2xx to CONNECT would be taken for a tunnel (RFC 9110 section 9.3.6).
        case .standIn(_, let failure) where request.purpose == .dial: fail(failure, .exhausted)
        case .standIn(let response, let failure): standIn(response, failure)
        case .fail(let failure, let reason): fail(failure, reason)
        case .breakOff, .finish: break
        }
    }

    // MARK: Starts that fail

    private func preflightAnswered(_ head: ResponseHead) {
        guard !parentProxyRefused(head) else { return }
        run.cancel()
        switch machine.preflightAnswered(status: head.status, at: loop.engine.clock.now()) {
        case .send(let number):
            // A reload may have come meanwhile.
            guard machine.attempts.isForced || machine.attempts.mayBeSent(summary) else {
                record(.park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied)))
                return refuseToSend()
            }
            startAttempt(machine.timeline.begun?.trigger ?? .dueTime, counted: number, isSameForEngine: true)
        case .drop(let failure): ended(as: .cancelled, failure: failure)
        case .ask(let failure): refusedToSend(.rejected, failure)
        }
    }

    /// Nothing could be sent: the store, or the end of the proxy, is in the way.
    func couldNotStart(_ failure: Failure = .stopping) {
        switch recipient {
        case .client: fail(.stopping)
        case .store: park(failure, machine.couldNotStart(failure))
        case .cache: ended(as: .cancelled)
        }
    }

    /// The request must not be sent once more: its client gets a problem, or a person has to decide.
    func refuseToSend() {
        let asks = entry != nil && machine.attempts.policy.maybeAppliedRule() == .ask
        if client != nil, !asks { return fail(.ended(.maybeApplied, lastFailure: machine.lastFailure)) }
        refusedToSend(.maybeApplied, nil)
    }

    /// - Parameter failure: Nil where the last one says it all.
    func refusedToSend(_ reason: UndecidedReason, _ failure: Failure?) {
        guard let entry else { return }
        if store != nil {
            machine.sendingWasRefused()
            recipient.discard()
            rest()
        }
        loop.engine.post(.notSendable(RequestNotSendable(entry, why: reason, failure: failure, takeTally())))
    }

    // MARK: Waiting

    func park(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let client, client.connection?.isInputClosed == true {
            return clientClosedWhileWaiting(client, failure, parking)
        }
        post(failure, parking)
        rest()
        client?.sendContinue(in: phase)
        if failure != nil, parking.hadNoResponse || notice == .shut { originIsAway() }
    }

    /// Asks to join the set, or to wait on in it.
    func post(_ failure: Failure?, _ parking: Verdict.Parking) {
        if let entry, let failure {
            return loop.engine.post(.attemptFailed(AttemptFailed(entry, failure, parking, takeTally())))
        }
        let new = NewEntry(of: self, failure, parking)
        joined(as: new.id)
        loop.engine.post(ParkRequested(new), from: self)
    }

    /// The exchange's place in the set. The exchange joins now if its first attempt is still under way.
    func joinedEntry() -> EntryID { entry ?? joinDuringAttempt { _ in } }

    private func joinDuringAttempt(_ change: (inout NewEntry) -> Void) -> EntryID {
        run.endFresh()
        var new = NewEntry(of: self)
        change(&new)
        joined(as: new.id)
        run.show()
        loop.engine.post(JoinedDuringAttempt(new), from: self)
        return new.id
    }

    /// A ticket that is in the store waits there; its next attempt gets an exchange of its own. Any other waits here, and so does one
    /// with a part of its response.
    func rest() {
        machine.rested()
        if phase.isEnded { loop.closed(self) }
    }

    // MARK: An attempt without a client

    /// Becomes an entry, which gives the attempt an owner and a limit.
    func goOnUnattended(for limit: Duration) {
        loop.opened(self)
        if let entry { return loop.engine.post(AttemptBecameUnattended(entry, for: limit)) }
        _ = joinDuringAttempt { ($0.unattendedFor, $0.wantsTicket) = (limit, false) }
    }

    /// The client is gone, the response is here, and all of the request has come: the rest of the request goes to the origin.
    func sendRestUnattended(within limit: Duration) {
        // Of a response whose end is withheld the cache does not get the rest.
        if client?.isDelivered != true { cacheUse?.discard() }
        goOnAnswered(for: limit)
    }

    /// The response has begun. The engine is told, unless it was when the response came.
    private func goOnAnswered(for limit: Duration) {
        let wasFresh = entry == nil
        goOnUnattended(for: limit)
        if wasFresh, let status = client?.status { originAnswered(.deliver(.answered), status: status) }
    }

    /// Those that wait for the response own it from now on. They take it as fast as it comes.
    func shareUnattended() {
        loop.opened(self)
        if let keySearch { loop.engine.post(.clientLeft(keySearch.claim)) }
        if let client { run.taken(client.tookBytes()) }
    }

    /// Others wait for the rest of the response: it becomes an entry, which gives the attempt an owner and a limit.
    func readOnForOthers() {
        guard phase.isUnattended, client?.isSharing == true else { return }
        goOnAnswered(for: machine.attempts.policy.unattendedMax)
    }

    /// The final head has come: the outcome is known. The body is read only where others with the same key wait for it, or where a part of
    /// the request is still to be sent (decision 68).
    func answeredUnattended(_ head: ResponseHead) {
        originAnswered(.deliver(.answered), status: head.status)
        client?.share(head, of: self)
        if isUnread, isStillSending { return }
        // mutant: unattended-body
        guard client?.isSharing == true else { return endUnread() }
        if let keySearch { loop.engine.post(.clientLeft(keySearch.claim)) }
    }

    /// Whether nobody reads the response.
    private var isUnread: Bool { phase.isUnattended && client?.isSharing != true }

    private var isStillSending: Bool { attempt?.progress.phase == .sending && client?.isRequestUnwanted != true }

    /// Most bytes of an unwanted response that are read after its request was handed over. An earlier end would cut the request: libcurl
    /// may still have its last 64 KiB. So a short response is read to its end. Default: 1 MiB.
    private static let unreadByteCountMax = 1 << 20

    /// A piece of a response that nobody reads, but whose request was still to be sent when it began.
    private func receiveUnread(_ bytes: ByteBuffer) {
        run.taken(bytes.readableBytes)
        guard !isStillSending else { return }
        run.unreadByteCount += bytes.readableBytes
        if run.unreadByteCount > Self.unreadByteCountMax { endUnread() }
    }

    /// No other request waits for its outcome.
    func othersLeft() {
        guard phase.isUnattended else { return }
        if client?.isSharing == true { return endUnread() }
        if let entry { loop.engine.post(OthersLeft(entry)) }
    }

    /// The time of the exchange without a client is over.
    func findOthers() {
        guard let entry else { return }
        if machine.holdsKey, let keySearch { return loop.engine.post(.lookForOthers(keySearch.claim, entry)) }
        loop.engine.post(OthersLookedFor(entry, doWait: false))
    }

    private func endUnread() {
        run.cancel()
        ended(as: .cancelled)
    }
}
