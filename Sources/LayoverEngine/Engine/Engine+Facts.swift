package import LayoverCore

/// The facts that concern more than the pending set, the actions of the machines, the commands of people, the modes of the proxy, and what
/// people are shown.
extension Engine {
    func handle(_ fact: ExchangeFact) {
        run { now in
            switch fact {
            case .attemptFailed(let fact):
                let id = fact.id
                if !pending.isLive(id) { observeLateEvidence(fact.failure, fact.tally, of: id, now: now) }
                // A ticket that waits has no exchange; the next attempt makes one. A response that it has not delivered keeps it, and so
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
                saver.exchangeEnded(id)
            case .notSendable(let fact):
                if pending.isStoredOnly(fact.id) { exchanges[fact.id] = nil }
                take(fact, now: now)
            case .ticketDelivered(let id, let response, let failure, let tally):
                saver.responseCame(response, of: id)
                take(ExchangeEnded(id, as: .delivered, failure: failure, status: response.status, tally), now: now)
                exchanges[id] = nil
                saver.saveLateResponse(response, of: id, pending.record(of: id), for: self)
            case .ticketNeverAnnounced(let id):
                if pending.isLive(id) { saver.ticketNeverAnnounced(id) } else { saver.save([(id, .forgetKey(id))], for: self) }
            case .notAdopted(let id, let obstacle):
                reporter.notAdopted(id, obstacle)
                pending.notAdopted(id, obstacle)
            case .evidence(let id, let failure, let tally): observeLateEvidence(failure, tally, of: id, now: now)
            case .accept(let acceptance, let exchange): TicketAcceptance(acceptance, for: exchange).begin(in: self)
            case .becomeTicket(let acceptance, let exchange): TicketAcceptance(acceptance, for: exchange).adopt(in: self)
            case .mayHaveBeenApplied(let origin, let failure): reporter.mayHaveBeenApplied(origin, failure, now: now)
            case .networkAnswered: perform(network.observe(.originBack, now: now))
            }
        }
    }

    /// Records the evidence of an attempt whose entry has ended meanwhile, by a command or by time.
    private func observeLateEvidence(_ failure: Failure?, _ tally: AttemptTally, of id: EntryID, now: Timestamp) {
        pending.recorded(failure, tally, of: id, now: now)
        saver.saveLateEvidence(pending.record(of: id), for: self)
    }

    // MARK: Actions

    func perform(_ actions: [PendingAction]) {
        for action in actions {
            switch action {
            case .start(let id, let trigger):
                if pending.isStoredOnly(id) {
                    starts.append((id, trigger))
                } else {
                    exchanges[id]?.start(trigger, isForced: pending.entry(id, now: clock.now())?.isForced ?? false)
                }
            case .offerTicket(let id): exchanges[id]?.offerTicket()
            case .abandonConnecting(let id): exchanges[id]?.abandonConnecting()
            case .abortAttempt(let id, let isCommanded): exchanges[id]?.abortAttempt(isCommanded: isCommanded)
            case .lookForOthers(let id): exchanges[id]?.lookForOthers()
            case .reroute(let id):
                if let exchange = exchanges[id], let entry = pending.entry(id, now: clock.now()) {
                    exchange.rerouted(to: entry.route, entry.policy, in: routes)
                }
            case .end(let id, let end): exchanges.removeValue(forKey: id)?.end(end, retryAfter: retryAfter(for: id))
            case .refuse(let id, let limit, let value):
                reporter.refused(limit, value, now: clock.now())
                exchanges.removeValue(forKey: id)?.refuse(limit: limit, value: value)
            case .dropResponse(let id):
                exchanges[id]?.dropResponse()
                if pending.isStoredOnly(id) { exchanges[id] = nil }
            case .deliverResponse(let id, let reason):
                reporter.delivered(reason)
                if pending.isLive(id) {
                    exchanges[id]?.deliverResponse(reason)
                } else {
                    // The request never joined the set. `refuse` makes its exchange deliver the response in hand.
                    exchanges.removeValue(forKey: id)?.refuse(limit: reason.rawValue, value: 0)
                }
            case .incident(let kind, let incident): reporter.report(kind, incident, now: clock.now())
            case .gate(let origin, let isShut):
                perform(network.observe(isShut ? .originAway(origin) : .originBack, now: clock.now()))
            case .announce(let origin, let notice): for loop in loops { loop.announce(origin, notice) }
            case .report(let kind, let id): report(kind, id)
            }
        }
    }

    func perform(_ actions: [ReachabilityAction]) {
        for action in actions {
            switch action {
            case .changed:
                let reachability = network.reachability
                pending.networkNoted(isAway: reachability.isNetworkAway)
                for loop in loops { loop.setNetwork(reachability.condition) }
                if pending.isBehindPortal != reachability.isBehindPortal {
                    take(PortalChanged(isBehindPortal: reachability.isBehindPortal), now: clock.now())
                }
                reporter.reachabilityChanged(reachability.view)
            case .networkChanged: for loop in loops { loop.networkChanged() }
            case .wake: take(NetworkMayBeReachable(), now: clock.now())
            case .probe: startProbe()
            }
        }
    }

    private func report(_ kind: EntryEventKind, _ id: EntryID) {
        guard let entry = entry(id) else { return }
        // The start of an attempt is recorded when its connection is open; an acceptance is on disk already.
        if entry.ticket != nil, kind == .changed || kind == .ended { saver.touch(id) }
        reporter.report(kind, entry, liveCount: pending.count, now: clock.now())
    }

    private func retryAfter(for id: EntryID) -> Duration? {
        let now = clock.now()
        return pending.entry(id, now: now).flatMap { pending.retryAfter(for: $0, now: now) }
    }

    // MARK: Commands

    package func apply(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, settled: Settlement.Outcome = .init()
    ) -> EntryCommandResult {
        let result = run { now in
            let (result, actions) = pending.commanded(
                command, id, revision: revision, by: author, reason: reason, acknowledgement: acknowledgement, outcome: settled,
                now: now)
            perform(actions)
            return result
        }
        if result == .done { reporter.commanded(command, id, by: author) }
        return result
    }

    package func apply(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil
    ) -> (EntryCommandResult, changed: [EntryID]) {
        run { now in
            let count = pending.incident(id, now: now)?.waiting ?? 0
            let (result, actions) = pending.commanded(command, incident: id, by: author, reason: reason, now: now)
            perform(actions)
            if result == .done { reporter.commanded(command, count: count) }
            return (result, saver.touched)
        }
    }

    package func apply(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) -> [EntryCommandResult] {
        run { now in
            let (results, actions) = pending.commanded(command, each: ids, by: author, reason: reason, now: now)
            perform(actions)
            reporter.commanded(command, count: results.count { $0 == .done })
            return results
        }
    }

    package func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> EntryCommandResult {
        run { now in
            let (result, actions) = pending.patched(id, patch, revision: revision, now: now)
            perform(actions)
            return result
        }
    }

    // MARK: The process

    /// - Parameter tunnels: What happens to open tunnels under `offline`; other modes leave them alone.
    package func setMode(_ mode: ReachabilityMode, reason: String?, tunnels: OfflineTunnels = .freeze) -> ReachabilityView {
        for loop in loops { loop.setOffline(mode == .offline ? tunnels : nil) }
        run { now in
            // What was put aside for a portal is set free by leaving mode `auto`; under `offline` it must find the set closed.
            if mode == .offline { take(ModeChanged(to: mode, cuts: tunnels == .cut), now: now) }
            perform(network.observe(.mode(mode, reason: reason, tunnels: tunnels), now: now))
            if mode != .offline { take(ModeChanged(to: mode), now: now) }
        }
        return network.reachability.view
    }

    /// Returns once the event loops have done what they were told before: open tunnels are frozen or reset then.
    package func untilLoopsCaughtUp() async { for loop in loops { await loop.caughtUp() } }

    /// A script of the host reports that the network changed.
    package func hintChanged() -> ReachabilityView {
        handle(.hinted)
        return network.reachability.view
    }

    /// Ends what waits and parks nothing any more. Attempts under way go on.
    package func drain() {
        reporter.drainBegan(pending.counts, heldCount: pending.heldCount)
        handle(DrainBegan())
    }

    /// Takes the result of a reload of the configuration, success or failure.
    package func reloaded(_ report: ReloadReport) {
        reporter.reloaded(report)
        // The last entries may have found their routes since the report was made.
        if !pending.isRerouting { reporter.rerouted() }
    }

    // MARK: Views

    package func status() -> EngineStatus { EngineStatus(of: self) }

    /// Nil where there is no store, and so no tickets.
    package func storeStatus() -> StoreStatus? { store.map { StoreStatus(of: self, $0) } }

    package func reachabilityView() -> ReachabilityView { network.reachability.view }
    package func activity() -> [ActivitySeries.Bucket] { reporter.activity(now: clock.now()) }
    package func entry(_ id: EntryID) -> Entry? { pending.entry(id, now: clock.now()).map(withProgress) }

    /// Fills in how far the attempt under way has got.
    private func withProgress(_ entry: Entry) -> Entry {
        guard entry.state == .attempting else { return entry }
        var entry = entry
        entry.progress = exchanges[entry.id]?.progress
        return entry
    }

    /// The body of a request whose exchange is in memory; nil if there is no such exchange.
    package func heldBody(_ id: EntryID) async -> HeldBody? {
        guard let exchange = exchanges[id] else { return nil }
        return await withCheckedContinuation { continuation in
            exchange.showBody { continuation.resume(returning: $0) }
        }
    }

    package func page(of query: PendingQuery) -> PendingPage {
        var page = pending.page(of: query, now: clock.now())
        page.entries = page.entries.map(withProgress)
        return page
    }

    // MARK: Events

    /// - Parameter receiver: Told of each change of an incident, and of limits that are reached. It must return at once.
    package func setNotificationReceiver(_ receiver: @escaping @Sendable (NotificationFact) -> Void) {
        reporter.notificationReceiver = receiver
    }

    /// The number of the newest event.
    package var lastEventNumber: UInt64 { reporter.events.lastNumber }

    /// Whether nothing that happened after an event is forgotten.
    package func knowsEvents(after number: UInt64) -> Bool { reporter.events.knows(after: number) }

    /// Starts to watch. `unwatch` ends it.
    package func watch() -> Int { reporter.events.watch() }

    /// Waits for what happens after an event. A task that is cancelled meanwhile watches no longer.
    ///
    /// - Parameter watcher: What `watch` returned; one call at a time.
    package func nextEvents(of watcher: Int, after number: UInt64) async -> EventTurn {
        await withTaskCancellationHandler {
            while true {
                if let turn = reporter.events.turn(of: watcher, after: number) { return turn }
                await withCheckedContinuation { reporter.events.wait(watcher, $0) }
            }
        } onCancel: {
            Task { await self.unwatch(watcher) }
        }
    }

    package func unwatch(_ watcher: Int) { reporter.events.unwatch(watcher) }

    /// Ends the watches of now, once they have got what has happened so far.
    package func finishWatching() { reporter.events.finish() }
}
