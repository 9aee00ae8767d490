import Retry

/// The live entries, and all that says when each of them goes.
///
/// It owns the entries and the machines that know of them: the origins with their gates, lanes, dependencies, incidents,
/// pauses, superseded PUTs and timers. None of these machines knows another; what a change means to them is decided here.
/// `transition` is the one place where an entry gets another state.
struct Schedule: Sendable {
    var entries = EntryTable()
    var history: EntryHistory
    var origins: Origins
    var lanes = Lanes()
    var dependencies = Dependencies()
    var incidents: Incidents
    var pauses = Pauses()
    var puts = LatestPuts()
    var unattended: UnattendedEntries
    var timers = DueTimers()
    var mode = ReachabilityMode.auto
    /// Whether the monitor says that the network as a whole is away. Only for what people are shown.
    var isNetworkAway = false
    var isDraining = false
    /// Whether tickets of an earlier run are still being read: none goes before all of them are there.
    var isRestoring = false
    /// Whether tickets of an earlier run may be in a store that is not open yet: then it is unknown which entry of a lane comes first.
    var areLanesUnknown = false
    /// The reload under way; nil: every ticket has its route of now.
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

    init(_ limits: PendingLimits, seed: UInt64) {
        incidents = Incidents(seed: seed)
        history = EntryHistory(countMax: limits.rememberedCountMax)
        origins = Origins(limits)
        unattended = UnattendedEntries(countMax: limits.unattendedCountMax)
    }

    /// At the end of each fact: starts what may go, and hands out what is to be done.
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

    /// An origin stands differently: the loops are to know, and entries may go.
    mutating func originChanged(_ origin: Origin) {
        toAnnounce.insert(origin)
        toDispatch.insert(origin)
    }

    // MARK: Views

    /// The entry as it stands at a moment, live or remembered; nil if there is none.
    func entry(_ id: EntryID, now: Timestamp) -> Entry? {
        guard let entry = entries[id] else { return history[id] }
        return described(entry, now: now)
    }

    /// Fills in what depends on others: what it waits for and when it goes.
    func described(_ entry: Entry, now: Timestamp) -> Entry {
        var entry = entry
        var outlook = Outlook()
        if entry.state == .waiting { (outlook.waitingFor, outlook.nextAttemptAt) = wait(of: entry, now: now) }
        outlook.shutParentProxyGate = entry.parentProxyGate.flatMap { origins.isShut($0) ? $0 : nil }
        outlook.willGo = willGo(entry, now: now)
        outlook.waitingOn = waitingOn(entry, outlook.waitingFor)
        entry.outlook = outlook
        return entry
    }

    /// The entry that has to be done before this one: the front of its lane, or the first of its parents.
    private func waitingOn(_ entry: Entry, _ reason: WaitReason?) -> EntryID? {
        switch reason {
        case .lane: areLanesUnknown ? nil : entry.lane.flatMap { lanes.first(of: $0) }
        case .parent: dependencies.parentsLeft[entry.id]?.min(by: isBefore)
        case .time, .network, .origin, .turn, .pause, nil: nil
        }
    }

    func view(of incident: Incidents.IncidentState, now: Timestamp) -> Incident {
        let tally = entries.incidentTallies[incident.id] ?? IncidentTally()
        return Incident(incident, tally, nextAttemptAt: nextAttempt(in: incident, tally, now: now))
    }

    /// Whether one came before another.
    func isBefore(_ one: EntryID, _ other: EntryID) -> Bool {
        (entries[one]?.sequence ?? 0) < (entries[other]?.sequence ?? 0)
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
        for child in dependencies.parentEnded(id).sorted(by: isBefore) {
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

    /// An origin wants to be left alone by the requests of a policy.
    mutating func pause(_ origin: Origin, for policy: Policy, _ wait: Duration, now: Timestamp) {
        guard policy.pausesOrigins, wait > .zero, wait <= policy.retryAfterMax else { return }
        let end = now + wait
        origins[origin].pause(policy, until: end, now: now)
        timers.add(.pause(origin), at: end)
        originChanged(origin)
    }

    // MARK: Lanes

    /// Finds the front of a lane, and sets it free.
    mutating func laneChanged(_ lane: String?, now: Timestamp) {
        guard let lane else { return }
        let front = lanes.findFront(of: lane) { id in
            guard let entry = entries[id], entry.lane == lane else { return .gone }
            return entry.state == .undecided && entry.policy.undecidedInLane == .skip ? .passedOver : .member
        }
        if let front { unblock(front, now: now) }
    }

    /// All tickets of an earlier run are there: the first of each lane goes.
    mutating func lanesBecameKnown(now: Timestamp) {
        guard areLanesUnknown else { return }
        areLanesUnknown = false
        for lane in lanes.states.keys.sorted() { laneChanged(lane, now: now) }
    }

    mutating func leaveLane(_ id: EntryID, _ lane: String?, now: Timestamp) {
        guard let lane else { return }
        lanes.leave(id, lane) { entries[$0]?.lane == lane }
        laneChanged(lane, now: now)
    }

    // MARK: Dependencies

    /// - Parameter ended: How parents ended that are not remembered; those that it does not name count as delivered.
    /// - Returns: False if one of them was not delivered.
    mutating func joinParents(_ id: EntryID, ended: [EntryID: EntryState] = [:]) -> Bool {
        guard let named = entries[id]?.ticket?.parents, !named.isEmpty else { return true }
        let parents = named.map { history.successor(of: $0) }
        if parents != named { change(id) { $0.ticket?.parents = parents } }
        return dependencies.join(id, parents) { entries[$0]?.state ?? history[$0]?.state ?? ended[$0] ?? .delivered }
    }

    /// A person decides what becomes of a ticket whose parent was not delivered.
    mutating func parentFailed(of id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state != .attempting else { return }
        // What may have been applied already is past that: a retry would double it, only a force may send it.
        ask(id, entry.mayHaveBeenApplied && !entry.isRepeatable ? .maybeApplied : .parentFailed, now: now)
    }

    /// Makes an entry undecided. The reason `maybeApplied` discards an earlier `force`.
    mutating func ask(_ id: EntryID, _ why: UndecidedReason, now: Timestamp) {
        if why == .maybeApplied { entries[id]?.isForced = false }
        transition(id, to: .undecided(why), now: now)
    }

    /// What may not be sent twice any more, because a policy does not allow it any more, stops where it is: RFC 9110
    /// section 9.2.2.
    ///
    /// A ticket asks a person, a request that a client holds does as its policy says. An attempt under way goes on: what
    /// follows it is decided by the policy as it is then.
    mutating func stopIfRisky(_ id: EntryID, now: Timestamp) {
        guard entries.show(id, { $0.isRisky }) == true, let entry = entries[id], entry.state != .attempting, entry.why != .maybeApplied
        else { return }
        if entry.ticket != nil || entry.policy.maybeAppliedRule() == .ask { return ask(id, .maybeApplied, now: now) }
        end(id, as: .failed, .maybeApplied, now: now)
    }
}
