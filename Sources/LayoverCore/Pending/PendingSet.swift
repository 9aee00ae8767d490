import Retry

/// The pending set: every request that waits or is being replayed, and the rules of when each may go.
///
/// A pure machine. Facts come in with their time (`PendingFact`), actions go out; the engine performs them. An entry
/// waits until its due time, until the way to its origin is open again, or until a person says so,
/// whichever comes first; then it is *eligible*, and the gate of its origin says when it goes. The same
/// rules hold for the first replay and for the hundredth.
///
/// Three rules that everything here serves: an entry ends exactly once; a cancelled entry never starts
/// again; while a gate is shut at most one attempt is under way to its origin.
///
/// The set owns the entries and the machines that know of them: the origins with their gates, lanes, dependencies, incidents,
/// pauses, superseded PUTs and timers. None of these machines knows another; what a change means to them is decided here.
/// `transition` is the one place where an entry gets another state.
package struct PendingSet: Sendable {
    package let limits: PendingLimits
    let naming: EntryNaming
    var admission = Admission()
    var entries = EntryTable()
    var history: EntryHistory
    var origins: Origins
    var lanes = Lanes()
    var dependencies = Dependencies()
    var incidents: Incidents
    var pauses = Pauses()
    var puts = LatestPuts()
    private(set) var unattended: UnattendedEntries
    var timers = DueTimers()
    package private(set) var mode = ReachabilityMode.auto
    /// Whether the monitor says that the network as a whole is away. Only for what people are shown.
    package private(set) var isNetworkAway = false
    package private(set) var isDraining = false
    /// Whether tickets of an earlier run are still being read: none goes before all of them are there.
    private(set) var isRestoring = false
    /// Whether tickets of an earlier run may be in a store that is not open yet: then it is unknown which entry of a lane comes first.
    private(set) var areLanesUnknown = false
    /// The newest reload. Nil: there was none.
    var rerouting: Rerouting?
    var reloadCount: UInt8 = 0
    /// Gathered while a fact is worked on.
    var actions: [PendingAction] = []
    /// Origins where the fact at hand may have let entries go.
    var toDispatch: Set<Origin> = []
    /// Entries that may wait because something is away, and are in no incident.
    var strays = Strays()
    /// Origins of which the loops may have to know something else.
    var toAnnounce: Set<Origin> = []

    /// - Parameter seed: Of the ids of incidents.
    package init(limits: PendingLimits = .init(), naming: EntryNaming = .plain, seed: UInt64 = 1) {
        self.limits = limits
        self.naming = naming
        incidents = Incidents(seed: seed)
        history = EntryHistory(countMax: limits.rememberedCountMax)
        origins = Origins(limits)
        unattended = UnattendedEntries(countMax: limits.unattendedCountMax)
    }

    // MARK: Facts

    /// Takes a fact.
    ///
    /// - Parameter generator: Randomness, for the delays of gates.
    /// - Returns: What is to be done, in this order.
    package mutating func handle(
        _ fact: some PendingFact, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        fact.apply(to: &self, now: now, using: &generator)
        return finishFact(now: now)
    }

    /// At the end of each fact and each command: starts what may go, and hands out what is to be done.
    mutating func finishFact(now: Timestamp) -> [PendingAction] {
        repeat {
            for origin in toAnnounce.sorted(by: Origin.isBefore) {
                if let notice = origins.notice(of: origin) { actions.append(.announce(origin, notice)) }
            }
            toAnnounce = []
            let free = toDispatch.sorted(by: Origin.isBefore)
            toDispatch = []
            for origin in free {
                if origin.scheme == .parentProxy { dispatch(through: origin, now: now) } else { dispatch(origin, now: now) }
            }
            probeStore(now: now)
        } while !toDispatch.isEmpty || !toAnnounce.isEmpty
        joinStrays(now: now)
        timers.dropStale(entries, origins, pauses, incidents)
        // Its members stand now as they will be seen.
        for incident in incidents.takeOpened() { actions.append(.incident(.opened, view(of: incident, now: now))) }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// Something is to be done at the end of the fact.
    mutating func addAction(_ action: PendingAction) { actions.append(action) }

    /// An origin stands differently: the loops are to know, and entries may go.
    mutating func originChanged(_ origin: Origin) {
        toAnnounce.insert(origin)
        toDispatch.insert(origin)
    }

    // MARK: Network, mode, restart and stop

    /// The network as a whole is away, or is back.
    package mutating func networkNoted(isAway: Bool) { isNetworkAway = isAway }

    /// - Parameter cuts: Whether all attempts under way are aborted, whatever they have sent.
    mutating func modeChanged(to new: ReachabilityMode, cuts: Bool, now: Timestamp) {
        guard new != mode || cuts else { return }
        mode = new
        guard new == .offline else { return wakeAll(now: now) }
        lookForStrays()
        for id in entries.idsInOrder where entries[id]?.state == .attempting {
            if cuts { actions.append(.abortAttempt(id, isCommanded: true)) } else { abandonAttempt(of: id) }
        }
    }

    /// The store of an earlier run is not open yet: entries with a lane wait until `RestoringEnded`.
    package mutating func lanesAreUnknown() { areLanesUnknown = true }

    /// Portions of tickets of an earlier run are about to come: nothing starts until `RestoringEnded`.
    package mutating func restoringBegan() { isRestoring = true }

    /// All tickets of an earlier run are there: what waits for them may go.
    mutating func restoringEnded(now: Timestamp) {
        isRestoring = false
        if areLanesUnknown {
            areLanesUnknown = false
            for lane in lanes.states.keys.sorted() { laneChanged(lane, now: now) }
        }
        restarted()
        toDispatch.formUnion(origins.states.keys)
    }

    /// The proxy is being stopped: what waits ends, but for tickets, which go on after the next start.
    mutating func drainBegan(now: Timestamp) {
        isDraining = true
        for id in entries.idsInOrder where entries[id]?.ticket == nil { endOrOfferTicket(id, now: now) }
        // The loops stop too: what becomes of origins does not matter to them any more.
        toAnnounce = []
    }

    // MARK: Entries

    mutating func insert(_ entry: Entry, now: Timestamp) {
        entries.insert(entry)
        origins[entry.origin].joined(entry.policy)
        limitCanaryDelay(of: entry.origin, now: now)
        joinParentProxy(entry.parentProxyGate, entry.policy, now: now)
        if let lane = entry.lane { lanes.join(entry.id, lane, sequence: entry.sequence) }
        watchDeadlines(of: entry, now: now)
        originChanged(entry.origin)
    }

    /// Changes an entry, counts the revision, and reports it.
    mutating func change(_ id: EntryID, as event: EntryEventKind = .changed, _ work: (inout Entry) -> Void = { _ in }) {
        guard entries[id] != nil else { return }
        entries[id]?.revision += 1
        entries[id]?.amend(work)
        actions.append(.report(event, id))
    }

    /// Changes an entry without a revision and a report. Its state, lane and parent proxy concern other parts, and have their own methods.
    mutating func amend(_ id: EntryID, _ work: (inout Entry) -> Void) { entries[id]?.amend(work) }

    /// Gives an entry another state, with all that follows from it: counts, budget, report, incident, lane.
    mutating func transition(_ id: EntryID, to state: Entry.State, as event: EntryEventKind = .changed, now: Timestamp) {
        guard let entry = entries[id] else { return }
        if case .ended(let state) = state { return remove(entry, as: state, now: now) }
        let wasUnderWay = entry.state == .attempting
        if wasUnderWay { attemptStopped(entry) }
        var isUnderWay = false
        switch state {
        case .attempting:
            isUnderWay = true
            origins[entry.origin].started(entry)
            if let gate = entry.parentProxyGate { origins[gate].started(entry) }
        // It may stay so for long, and others can use what the budget gave for it.
        case .held, .undecided: giveGrantBack(id, wasMade: false)
        case .waiting, .ended: break
        }
        change(id, as: event) { entry in
            entry.fullState = state
            entry.noteAttempt(at: now)
            entry.placement &+= 1
        }
        changeIncident(of: id, to: state, from: entry, now: now)
        if !wasUnderWay { touchIncident(of: id, now: now) } else { originChanged(entry.origin) }
        guard let lane = entry.lane else { return }
        if isUnderWay { return lanes.attemptStarted(id, lane) }
        lanes.attemptStopped(id, lane)
        // While it was undecided it may have been passed over.
        if case .waiting = state { lanes.takePlaceAgain(id, lane, sequence: entry.sequence) }
        laneChanged(lane, now: now)
    }

    /// It takes no room at its origin any more, nor at its parent proxy.
    mutating func leaveOrigin(_ entry: Entry) {
        origins[entry.origin].left(entry.policy)
        if entry.state == .attempting { attemptStopped(entry) }
        leaveParentProxy(entry.parentProxyGate, entry.policy)
    }

    private mutating func attemptStopped(_ entry: Entry) {
        origins[entry.origin].stopped(entry)
        guard let gate = entry.parentProxyGate else { return }
        origins[gate].stopped(entry)
        originChanged(gate)
    }

    /// Ends an entry without its exchange, which is told why.
    mutating func end(_ id: EntryID, as state: EntryState, _ reason: EntryEnd, now: Timestamp) {
        entries[id]?.wasStopped = reason == .draining
        transition(id, to: .ended(state), now: now)
        actions.append(.end(id, reason))
    }

    /// Takes an entry out of the set. It ends exactly once: later facts find no entry.
    private mutating func remove(_ entry: Entry, as state: EntryState, now: Timestamp) {
        let id = entry.id
        entries[id] = nil
        if entry.isUnattended { unattended.leave(id) } else { leaveOrigin(entry) }
        // mutant: spent-budget
        if let grant = entry.grant {
            origins[entry.origin].end(grant, of: entry.policy, wasMade: entry.state == .attempting)
        }
        // mutant: endless-incident
        leave(entry.incident, now: now)
        var ended = entry
        ended.end(as: state, at: now)
        history.remember(ended)
        timers.entryEnded()
        actions.append(.report(.ended, id))
        originChanged(entry.origin)
        puts.remove(entry)
        dependencies.remove(id)
        for child in dependencies.parentEnded(id).sorted(by: entries.isBefore) {
            if state == .delivered { unblock(child, now: now) } else { parentFailed(of: child, now: now) }
        }
        leaveLane(id, entry.lane, now: now)
    }

    /// Gives back to the budget what a status retry took.
    ///
    /// - Parameter wasMade: Whether the retry was made.
    mutating func giveGrantBack(_ id: EntryID, wasMade: Bool) {
        guard let entry = entries[id], let grant = entry.grant else { return }
        origins[entry.origin].end(grant, of: entry.policy, wasMade: wasMade)
        entries[id]?.grant = nil
    }

    // MARK: Deadlines

    /// The time has come for what is due.
    mutating func timePassed(now: Timestamp) {
        while let (at, timer) = timers.popDue(at: now) {
            switch timer {
            case .due(let place):
                guard entries.isCurrent(place), let origin = entries[place.id]?.origin else { continue }
                makeEligible(place.id, by: .dueTime)
                toDispatch.insert(origin)
            case .expiry(let id): expire(id, now: now)
            case .credentials(let id): credentialsExpired(id, now: now)
            case .incident(let id):
                incidents.dropStaleDues(of: id, memberCount: entries.memberCount(of: id), entries.isDue(in: id))
                if let changed = incidents.takeChanged(id) {
                    actions.append(.incident(.updated, view(of: changed, now: now)))
                }
            // The next portion joins at the end of the fact.
            case .strays: break
            // At the end of the fact it is seen that the pause is over.
            case .store: break
            case .pause(let origin): toDispatch.insert(origin)
            case .canary(let origin): if origins.canaryAt(origin) == at { toDispatch.insert(origin) }
            }
        }
    }

    /// Sees to it that the entry ends in time, and that nothing is sent whose credentials are past theirs.
    mutating func watchDeadlines(of id: EntryID, now: Timestamp) {
        if let entry = entries[id] { watchDeadlines(of: entry, now: now) }
    }

    mutating func watchDeadlines(of entry: Entry, now: Timestamp) {
        watchEnd(of: entry, now: now)
        if let notAfter = entry.ticket?.notAfter { timers.add(.credentials(entry.id), at: max(notAfter, now)) }
    }

    mutating func watchEnd(of entry: Entry, now: Timestamp) { timers.add(.expiry(entry.id), at: max(entry.expiresAt, now)) }

    private mutating func credentialsExpired(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, !entry.hasGoodCredentials(at: now),
            !entry.isBeingStored, !entry.isAttemptAskedFor
        else { return }
        ask(id, .credentialsExpired, now: now)
        originChanged(entry.origin)
    }

    /// An attempt in flight may go on until the end of `lifetime`; if it fails before, the entry ends then.
    mutating func expire(_ id: EntryID, now: Timestamp) {
        // A reload may have moved the end; its own timer comes up then.
        guard entries.show(id, { $0.expiresAt <= now }) == true, let entry = entries[id] else { return }
        // mutant: unattended-without-end
        if entry.isUnattended { return unattendedIsOver(id, now: now) }
        if let attempt = entry.attempt { return endAttempt(attempt, of: entry, now: now) }
        endOrOfferTicket(id, now: now)
    }

    /// A server that hangs would otherwise hold up a lane for ever.
    private mutating func endAttempt(_ attempt: Entry.Attempt, of entry: Entry, now: Timestamp) {
        let id = entry.id
        // mutant: endless-attempt
        guard entry.lifetimeEnd <= now else { return timers.add(.expiry(id), at: entry.lifetimeEnd) }
        // The client reads the response, so no deadline ends the attempt.
        if attempt.isAnswered, entry.isHeldByClient, !entry.isHeldByNoClient { return }
        // No client reads the response. The abort keeps the part that has come.
        if attempt.isAnswered { return actions.append(.abortAttempt(id, isCommanded: false)) }
        end(id, as: .expired, .expired, now: now)
    }

    /// The time of the entry is over, or the proxy is being stopped: a ticket lives on, and a client that wants one is asked.
    mutating func endOrOfferTicket(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        switch entry.owner {
        case .clientUntilStored, .client(.ticketOffered): return
        // A ticket whose own time is over too is of no use to anyone.
        case .client(.ticket) where entry.lifetimeEnd > now:
            entries[id]?.owner = .client(.ticketOffered)
            return actions.append(.offerTicket(id))
        case .client, .store, .cache, .nobody, .others: break
        }
        guard entry.state != .attempting else { return }
        if entry.expiresAt <= now {
            end(id, as: .expired, .expired, now: now)
            // mutant: draining
        } else if isDraining, entry.ticket == nil {
            end(id, as: .cancelled, .draining, now: now)
        }
    }

    /// The entry stays with its client and gets no ticket. It ends now if its time is over or the proxy is being stopped.
    mutating func staysWithClient(_ id: EntryID, now: Timestamp) {
        // An unattended entry was to become a ticket for others. It goes on without a client.
        guard let entry = entries[id], entry.ticket == nil, !entry.isUnattended else { return }
        entries[id]?.owner = .client(.none)
        if isDraining || entry.expiresAt <= now { endOrOfferTicket(id, now: now) }
        watchDeadlines(of: id, now: now)
        unblock(id, now: now)
    }

    // MARK: Without a client

    /// An entry joins whose client is gone.
    mutating func joinUnattended(_ entry: Entry) {
        entries.insert(entry)
        actions.append(.report(.parked, entry.id))
    }

    mutating func beginUnattended(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.expiresAt > now else { return unattendedIsOver(id, now: now) }
        watchDeadlines(of: id, now: now)
        unattended.join(id)
        if let oldest = unattended.surplus { unattendedIsOver(oldest, now: now) }
    }

    /// Its time is over, or another needs its place. It ends, unless others with its key wait for its outcome: that is asked first.
    private mutating func unattendedIsOver(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        // mutant: others-forgotten
        guard entry.hasIdempotencyKey, now < entry.lifetimeEnd else { return endUnattended(id, now: now) }
        unattended.leave(id)
        entries[id]?.owner = .others
        actions.append(.lookForOthers(id))
    }

    /// What the attempt proves follows as late evidence.
    mutating func endUnattended(_ id: EntryID, now: Timestamp) {
        entries[id]?.counts.mayHaveBeenApplied = true
        end(id, as: .cancelled, .unattended, now: now)
    }

    /// It is to become a ticket, which others with its key wait for.
    mutating func becameAttended(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isUnattended else { return }
        unattended.leave(id)
        // Reloads passed over it, and their numbers may have come round.
        entries[id]?.reloadNumber = 0
        origins[entry.origin].joined(entry.policy)
        limitCanaryDelay(of: entry.origin, now: now)
        joinParentProxy(entry.parentProxyGate, entry.policy, now: now)
        guard entry.state == .attempting else { return }
        origins[entry.origin].started(entry)
        if let gate = entry.parentProxyGate { origins[gate].started(entry) }
    }
}
