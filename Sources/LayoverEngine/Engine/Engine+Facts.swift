import LayoverCore
import Logging

extension Engine {
    /// Works on one fact. What follows from each is done at its end: the changes of tickets are handed to the store, in order, and
    /// attempts begin.
    ///
    /// - Parameter work: Gets the time.
    func run<Answer>(_ work: (Timestamp) -> Answer) -> Answer {
        let answer = work(clock.now())
        finishFact()
        return answer
    }

    private func finishFact() {
        saveTouched()
        let starts = ticketStarts
        ticketStarts = []
        for (id, trigger) in starts { replay(id, trigger) }
        if !abortWaiters.isEmpty {
            let (pending, now) = (pending, clock.now())
            abortWaiters.end { pending.entry($0, now: now)?.state != .attempting }
        }
        network.watchListeners(on: pending.awaitedOnThisMachine, now: clock.now())
        armTimer()
    }

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
            case .mayHaveBeenApplied(let origin, let failure): reporter.mayHaveBeenApplied(origin, failure, now: now)
            case .networkAnswered: perform(network.observe(.originBack, now: now))
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
        run { now in perform(network.observe(fact, now: now)) }
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
                reporter.refused(limit, value, now: clock.now())
                exchanges.removeValue(forKey: id)?.refuse(limit: limit, value: value)
            case .dropResponse(let id):
                exchanges[id]?.dropResponse()
                if pending.isTicketAtRest(id) { exchanges[id] = nil }
            case .deliverResponse(let id, let reason):
                reporter.delivered(reason)
                if pending.isLive(id) {
                    exchanges[id]?.deliverResponse(reason)
                } else {
                    // The request never joined the set. `refuse` makes its exchange deliver the response in hand.
                    exchanges.removeValue(forKey: id)?.refuse(limit: reason.rawValue, value: 0)
                }
            case .incident(let kind, let incident):
                reporter.report(kind, incident, now: clock.now())
            case .gate(let origin, let isShut):
                perform(
                    network.observe(isShut ? .originAway(origin) : .originBack, now: clock.now()))
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
                let reachability = network.reachability
                pending.isNetworkAway = reachability.isNetworkAway
                for loop in loops { loop.setNetwork(reachability.condition) }
                if pending.isBehindPortal != reachability.isBehindPortal {
                    take(PortalChanged(isBehindPortal: reachability.isBehindPortal), now: clock.now())
                }
                reporter.reachabilityChanged(reachability.view)
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
        network.startProbe { number, result in await self.probed(number, result) }
    }

    private func probed(_ number: Int, _ result: ProbeResult) {
        if network.isCurrent(number) { handle(.probed(result)) }
    }

    func report(_ kind: EntryEventKind, _ id: EntryID) {
        guard let entry = entry(id) else { return }
        // The start of an attempt is recorded when its connection is open; an acceptance is on disk already.
        if entry.ticket != nil, kind == .changed || kind == .ended { saves.touch(id) }
        reporter.report(kind, entry, liveCount: pending.count, now: clock.now())
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
