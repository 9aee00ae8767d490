import LayoverCore
import Logging

extension Engine {
    /// Takes a fact of the pending set.
    func handle(_ fact: some PendingFact) { run { now in take(fact, now: now) } }

    /// As `handle`, as a part of what `run` does.
    func take(_ fact: some PendingFact, now: Timestamp) { perform(pending.handle(fact, now: now, using: &jitter)) }

    func handle(_ fact: some JoiningFact, from exchange: any HeldExchange) {
        exchanges[fact.new.id] = exchange
        handle(fact)
    }

    func handle(_ fact: ExchangeFact) {
        run { now in
            switch fact {
            case .attemptFailed(let fact):
                let id = fact.id
                if !pending.isLive(id) { observeLateEvidence(fact.failure, fact.tally, of: id, now: now) }
                // A ticket at rest has no exchange; the next attempt makes one. A response that it has not delivered keeps it, and so
                // does the part of one that broke off.
                let isTicket = pending.entry(id, now: now)?.ticket != nil && !pending.isBeingStored(id)
                if isTicket, fact.failure.evidence != .answered, fact.tally.resume == nil { exchanges[id] = nil }
                take(fact, now: now)
            case .answered(let fact):
                if !pending.isLive(fact.id) { observeLateEvidence(nil, fact.tally, of: fact.id, now: now) }
                take(fact, now: now)
            case .ended(let fact):
                let id = fact.id
                if !pending.isLive(id) { observeLateEvidence(fact.failure, fact.tally, of: id, now: now) }
                take(fact, now: now)
                // mutant: ends-twice
                // Its loop has ended it; in all other cases the loop still gets `end` or `refuse`.
                exchanges[id] = nil
                if !saves.isTouched(id) { saves.neverAnnounced.remove(id) }
            case .notSendable(let fact):
                if pending.isTicketAtRest(fact.id) { exchanges[fact.id] = nil }
                take(fact, now: now)
            case .ticketDelivered(let id, let response, let failure, let tally):
                saves.responses[id] = response
                take(ExchangeEnded(id, as: .delivered, failure: failure, status: response.status, tally), now: now)
                exchanges[id] = nil
                if !saves.isTouched(id) { discard(response, of: id) }
            case .ticketNeverAnnounced(let id):
                if pending.isLive(id) { saves.neverAnnounced.insert(id) } else { save([(id, .forgetKey(id))]) }
            case .notAdopted(let id, let obstacle):
                logger.notice(
                    "request cancelled: its client disconnected and it cannot become a ticket",
                    metadata: ["exchange": "\(naming.shown(id))", "reason": "\(obstacle.rawValue)"])
                pending.notAdopted(id, obstacle)
            case .evidence(let id, let failure, let tally): observeLateEvidence(failure, tally, of: id, now: now)
            case .accept(let acceptance, let exchange): accept(acceptance, exchange)
            case .becomeTicket(let acceptance, let exchange): becomeTicket(acceptance, exchange)
            case .mayHaveBeenApplied(let origin, let failure): mayHaveBeenApplied(origin, failure)
            case .networkAnswered: perform(reachability.observe(.originBack, now: now))
            }
        }
    }

    /// Records the evidence of an attempt whose entry has ended meanwhile, by a command or by time.
    private func observeLateEvidence(_ failure: Failure?, _ tally: AttemptTally, of id: EntryID, now: Timestamp) {
        pending.recorded(failure, tally, of: id, now: now)
        saveLateEvidence(of: id)
    }

    func handle(_ fact: ReachabilityFact) {
        if case .resumed = fact { resetTimer() }
        run { now in perform(reachability.observe(fact, now: now)) }
    }

    // MARK: Actions

    func perform(_ actions: [PendingAction]) {
        for action in actions {
            switch action {
            case .start(let id, let trigger):
                if pending.isTicketAtRest(id) {
                    ticketStarts.append((id, trigger))
                } else {
                    exchanges[id]?.start(trigger, isForced: pending.entry(id, now: clock.now())?.isForced ?? false)
                }
            case .offerTicket(let id):
                exchanges[id]?.offerTicket()
            case .abandonConnecting(let id):
                exchanges[id]?.abandonConnecting()
            case .abortAttempt(let id, let isCommanded):
                exchanges[id]?.abortAttempt(isCommanded: isCommanded)
            case .lookForOthers(let id):
                exchanges[id]?.lookForOthers()
            case .end(let id, let end):
                exchanges.removeValue(forKey: id)?.end(end, retryAfter: retryAfter(for: id))
            case .refuse(let id, let limit, let value):
                refused(limit, value)
                exchanges.removeValue(forKey: id)?.refuse(limit: limit, value: value)
            case .dropResponse(let id):
                exchanges[id]?.dropResponse()
                if pending.isTicketAtRest(id) { exchanges[id] = nil }
            case .deliverResponse(let id, let reason):
                totals.deliveredCounts[reason, default: 0] += 1
                if pending.isLive(id) {
                    exchanges[id]?.deliverResponse(reason)
                } else {
                    // The request never joined the set. `refuse` makes its exchange deliver the response in hand.
                    exchanges.removeValue(forKey: id)?.refuse(limit: reason.rawValue, value: 0)
                }
            case .incident(let kind, let incident):
                report(kind, incident)
            case .gate(let origin, let isShut):
                perform(
                    reachability.observe(isShut ? .originAway(origin) : .originBack, now: clock.now()))
            case .announce(let origin, let notice):
                for loop in loops { loop.announce(origin, notice) }
            case .report(let kind, let id):
                report(kind, id)
            }
        }
    }

    func perform(_ actions: [ReachabilityAction]) {
        for action in actions {
            switch action {
            case .changed:
                let view = reachability.view
                pending.isNetworkAway = reachability.isNetworkAway
                for loop in loops { loop.setNetwork(reachability.condition) }
                if pending.isBehindPortal != reachability.isBehindPortal {
                    take(PortalChanged(isBehindPortal: reachability.isBehindPortal), now: clock.now())
                }
                events.append(.reachability(view))
                logger.info(
                    "reachability changed",
                    metadata: ["state": "\(view.state)", "mode": "\(view.mode)"])
            case .networkChanged:
                for loop in loops { loop.networkChanged() }
            case .wake:
                take(NetworkMayBeReachable(), now: clock.now())
            case .probe:
                startProbe()
            }
        }
    }

    /// A probe that is still under way is cancelled: it tests a network that is gone.
    func startProbe() {
        isProbeDue = prober == nil
        guard let prober else { return }
        probe?.cancel()
        probeNumber += 1
        let number = probeNumber
        probe = Task {
            let result = await prober.probe()
            if number == probeNumber { handle(.probed(result)) }
        }
    }

    /// Asks, if it is time, which origins on this machine listen again.
    func lookForListeners(now: Timestamp) {
        guard let listenerTable, let dueAt = listenerWatch.nextLookAt, dueAt <= now else { return }
        var sockets: [Origin: Set<UInt64>] = [:]
        for origin in listenerWatch.origins {
            guard let found = listenerTable.listeners(on: origin.port) else {
                // A system that does not tell once never does.
                self.listenerTable = nil
                listenerWatch = ListenerWatch()
                return
            }
            sockets[origin] = found
        }
        for origin in listenerWatch.looked(sockets, now: now) { take(OriginMayBeReachable(origin), now: now) }
    }

    private func retryAfter(for id: EntryID) -> Duration? {
        guard let entry = pending.entry(id, now: clock.now()) else { return nil }
        return pending.retryAfter(for: entry, now: clock.now())
    }
}

/// Lets a generator of any type be passed as a concrete one.
struct Jitter: RandomNumberGenerator {
    private var base: any RandomNumberGenerator & Sendable

    init(_ base: any RandomNumberGenerator & Sendable) { self.base = base }

    mutating func next() -> UInt64 { base.next() }
}
