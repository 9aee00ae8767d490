/// Which of the waiting entries go, and when.
///
/// An entry is *free* when it comes after no other: its lane, or a ticket that it depends on. Only free entries are ever
/// eligible; the others wait outside of all heaps, marked as blocked, until those before them are done.
extension PendingSet {
    // MARK: Joining

    /// A request joins the set.
    ///
    /// - Parameter failure: What brought it here.
    /// - Returns: False if a ticket that it depends on was not delivered.
    @discardableResult
    mutating func join(_ entry: Entry, after failure: Failure? = nil, now: Timestamp) -> Bool {
        let id = entry.id
        insert(entry, now: now)
        actions.append(.report(.parked, id))
        let isDependable = joinParents(id)
        laneChanged(entry.lane, now: now)
        if failure?.evidence == .answered { actions.append(.dropResponse(id)) }
        return isDependable
    }

    /// A request that could not even try: the canary if no other tests the way, and not behind the
    /// backlog if the gate is open after all.
    mutating func admitFresh(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id] else { return }
        let isShut = origins.shutGate(before: entry) != nil
        let isPutAside = origins[entry.origin].putsAside(entry, now: now)
        if blocker(of: entry) != nil {
            block(id, isAskedFor: false)
        } else if isDraining || !entry.hasGoodCredentials(at: now) {
            // While the proxy stops, a ticket that was on its way to the disk waits for the next start. A ticket with expired
            // credentials becomes undecided in `place`.
            place(id, now: now)
        } else if mode != .offline, !isShut {
            // No client waits for the response to a ticket, so it takes its turn like a replay.
            if entry.ticket == nil, !isPutAside {
                start(id, by: .arrival, now: now)
            } else {
                makeEligible(id, by: .arrival)
            }
        } else if mode != .offline, origins.isUntried(entry),
            !pauses.isPausedByStore(entry), !isPutAside
        {
            // A first attempt ignores the delay of the gate, and a captive portal.
            start(id, by: .canary, now: now)
        } else {
            let canaryAt = origins.shutGate(before: entry).flatMap { origins.canaryAt($0) }
            entries[id]?.dueAt = canaryAt ?? now
            place(id, now: now)
        }
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

    mutating func leaveLane(_ id: EntryID, _ lane: String?, now: Timestamp) {
        guard let lane else { return }
        lanes.leave(id, lane) { entries[$0]?.lane == lane }
        laneChanged(lane, now: now)
    }

    /// A person moves an entry to another lane, or out of its own. In its new lane it takes the place that its age gives it.
    mutating func changeLane(of entry: Entry, to lane: String?, now: Timestamp) {
        entries[entry.id]?.lane = lane
        puts.moved(entry)
        leaveLane(entry.id, entry.lane, now: now)
        if let lane {
            lanes.join(entry.id, lane, sequence: entry.sequence)
            laneChanged(lane, now: now)
            let last = lanes.states[lane]?.lastOtherSequence ?? 0
            if entry.method != "PUT" { lanes.noteOther(lane, sequence: max(last, entry.sequence)) }
        }
        guard let moved = entries[entry.id], moved.state == .waiting else { return }
        if blocker(of: moved) == nil { unblock(entry.id, now: now) } else { block(entry.id, isAskedFor: moved.eligibleBy == .admin) }
    }

    /// An entry that its lane has passed over takes its place again.
    mutating func takeLanePlaceAgain(_ entry: Entry, now: Timestamp) {
        guard let lane = entry.lane else { return }
        lanes.takePlaceAgain(entry.id, lane, sequence: entry.sequence)
        laneChanged(lane, now: now)
    }

    // MARK: Dependencies

    /// - Parameters:
    ///   - ended: How parents ended that are not remembered; those that it does not name count as delivered.
    ///   - excused: Parents that an earlier run has excused.
    /// - Returns: False if one of them was not delivered.
    mutating func joinParents(_ id: EntryID, ended: [EntryID: EntryState] = [:], excused: [EntryID] = []) -> Bool {
        dependencies.restoreExcused(excused, of: id)
        guard let named = entries[id]?.ticket?.parents, !named.isEmpty else { return true }
        let parents = named.map { history.successor(of: $0) }
        if parents != named { change(id) { $0.ticket?.parents = parents } }
        return dependencies.join(id, parents) { entries[$0]?.state ?? history[$0]?.state ?? ended[$0] ?? .delivered }
    }

    /// A person has a ticket sent: its parents that have ended need not be delivered any more.
    mutating func excuseParents(of entry: Entry) {
        if let parents = entry.ticket?.parents, !parents.isEmpty { dependencies.excuse(parents, of: entry.id) }
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

    // MARK: Newer PUTs

    /// A request may be superseded by a newer one from now on.
    ///
    /// - Parameter supersedes: Whether it may take the places of older ones now.
    mutating func notePut(_ id: EntryID, supersedes: Bool, now: Timestamp) {
        if let entry = entries[id] { notePut(entry, supersedes: supersedes, now: now) }
    }

    mutating func notePut(_ entry: Entry, supersedes: Bool, now: Timestamp) {
        if entry.method != "PUT", let lane = entry.lane { lanes.noteOther(lane, sequence: entry.sequence) }
        puts.add(entry)
        if supersedes { takePlacesOfOlderPuts(entry.id, now: now) } else if entry.isBodyReplayable { puts.forgetOlder(than: entry) }
    }

    /// A PUT takes the places of those to its URL before it, once it is there whole.
    mutating func takePlacesOfOlderPuts(_ id: EntryID, now: Timestamp) {
        // mutant: half-put
        guard let entry = entries[id], entry.isBodyReplayable, entry.state == .waiting,
            !dependencies.waits(id)
        else { return }
        for older in puts.older(than: entry, lanes) {
            // What cannot be passed over keeps all that are behind it.
            guard let superseded = entries[older], superseded.state == .waiting || superseded.state == .held,
                superseded.isNeverSent, !superseded.isBeingStored, !dependencies.hasChildren(older),
                superseded.ticket == nil || entry.ticket != nil
            else { break }
            entries[older]?.supersededBy = id
            end(older, as: .cancelled, .superseded(by: id), now: now)
        }
        puts.forgetOlder(than: entry)
    }

    // MARK: Places

    /// What keeps an entry from its turn; nil when it is free.
    func blocker(of entry: Entry) -> WaitReason? {
        if entry.isBeingStored { return .turn }
        // mutant: no-parents
        if dependencies.waits(entry.id) { return .parent }
        // mutant: unknown-lane
        if areLanesUnknown, entry.lane != nil { return .lane }
        // mutant: no-lanes
        return entry.lane.map { lanes.blocks(entry.id, in: $0) } == true ? .lane : nil
    }

    /// Makes what any heap says of a waiting entry stale.
    private mutating func newPlace(of entry: Entry, _ turn: Entry.Turn) -> EntryPlace {
        let place = EntryPlace(id: entry.id, placement: entry.placement &+ 1)
        entries[entry.id]?.amend { entry in
            entry.fullState = .waiting(turn)
            entry.placement = place.placement
        }
        var isBlocked = false
        if case .blocked = turn { isBlocked = true }
        noteWait(of: entry, in: entry.incident, isBlocked: isBlocked)
        return place
    }

    /// Puts a waiting entry where its due time and its gate will find it.
    mutating func place(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting else { return }
        guard blocker(of: entry) == nil else { return block(id, isAskedFor: false) }
        guard entry.hasGoodCredentials(at: now) else { return ask(id, .credentialsExpired, now: now) }
        awaitDueTime(entry, at: newPlace(of: entry, .due), now: now)
    }

    private mutating func awaitDueTime(_ entry: Entry, at place: EntryPlace, now: Timestamp) {
        // mutant: forgotten-timer
        timers.add(.due(place), at: max(entry.dueAt, now))
        guard entry.isWokenByOrigin else { return }
        let gate = origins.shutGate(before: entry) ?? entry.origin
        origins[gate].addWaiting(place, dueAt: entry.dueAt)
        origins[gate].dropStalePlaces { entries.isCurrent($0) }
    }

    /// Inserts an entry that waits, and comes after no other, with its place.
    mutating func insert(_ entry: Entry, _ turn: Entry.Turn, now: Timestamp) {
        var entry = entry
        entry.fullState = .waiting(turn)
        insert(entry, now: now)
        noteWait(of: entry, in: entry.incident, isBlocked: false)
        let place = EntryPlace(id: entry.id, placement: entry.placement)
        switch turn {
        case .due: awaitDueTime(entry, at: place, now: now)
        case .eligible(let trigger): origins[entry.origin].addEligible(place, of: entry, isAskedFor: trigger == .admin)
        case .blocked: break
        }
    }

    /// Lets a waiting entry go as soon as its gate has room.
    mutating func makeEligible(_ id: EntryID, by trigger: AttemptTrigger) {
        guard let entry = entries[id], entry.state == .waiting else { return }
        guard blocker(of: entry) == nil else { return block(id, isAskedFor: trigger == .admin) }
        // The command of a person outranks the priority; what is eligible already keeps its place.
        guard entry.eligibleBy == nil || trigger == .admin else { return }
        let place = newPlace(of: entry, .eligible(trigger))
        origins[entry.origin].addEligible(place, of: entry, isAskedFor: trigger == .admin)
        origins[entry.origin].dropStalePlaces { entries.isCurrent($0) }
    }

    /// Gives an eligible entry, or one that was put aside, a new place.
    mutating func makeEligibleAgain(_ id: EntryID, by trigger: AttemptTrigger) {
        entries[id]?.fullState = .waiting(.due)
        makeEligible(id, by: trigger)
    }

    /// Takes note that a waiting entry cannot go before others.
    mutating func block(_ id: EntryID, isAskedFor: Bool) {
        guard let entry = entries[id] else { return }
        var wasAskedFor = false
        if case .waiting(.blocked(let before)) = entry.fullState { wasAskedFor = before }
        _ = newPlace(of: entry, .blocked(isAskedFor: isAskedFor || wasAskedFor))
    }

    /// Lets a blocked entry go on if it is free now.
    mutating func unblock(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isBlocked, blocker(of: entry) == nil else { return }
        entries[id]?.fullState = .waiting(.due)
        if entry.isAttemptAskedFor {
            makeEligible(id, by: .admin)
        } else if origins.shutGate(before: entry) == nil, entry.dueAt <= now || entry.isWokenByOrigin {
            // If it waited for its origin, that came back while others were before it.
            makeEligible(id, by: .predecessor)
        } else {
            place(id, now: now)
        }
        toDispatch.insert(entry.origin)
    }

    // MARK: Starting

    /// Whether none goes by itself, wherever to.
    // mutant: offline
    var isPaused: Bool { mode == .offline || isDraining || isRestoring }

    /// At the end of the fact, starts what may go to an origin.
    mutating func dispatchLater(_ origin: Origin) { toDispatch.insert(origin) }

    /// Starts as many attempts to an origin as its gate admits.
    mutating func dispatch(_ origin: Origin, now: Timestamp) {
        guard !isPaused, origins.isKnown(origin) else { return }
        releaseWithheld(to: origin, now: now)
        while origins[origin].admits(now: now), let place = origins[origin].popNext() {
            if mayGo(place, now: now) { start(place.id, by: entries[place.id]?.eligibleBy ?? .canary, now: now) }
        }
    }

    /// Lets go on what a pause or the budget put aside, as far as there is room.
    private mutating func releaseWithheld(to origin: Origin, now: Timestamp) {
        guard origins[origin].withholds else { return }
        let pausedBefore = origins[origin].pauseNotice
        for place in origins[origin].takePutAside(now: now, current: { entries.isCurrent($0) ? entries[$0.id] : nil }) {
            makeEligibleAgain(place.id, by: entries[place.id]?.eligibleBy ?? .reachability)
        }
        if origins[origin].pauseNotice != pausedBefore { toAnnounce.insert(origin) }
    }

    /// Whether an entry is still there and nothing keeps it back. What must not meet a captive portal, and a ticket while
    /// the store takes no start records, is put aside.
    ///
    /// - Parameter probesStore: Whether it goes to find out whether the store has recovered.
    private mutating func mayGo(_ place: EntryPlace, now: Timestamp, probesStore: Bool = false) -> Bool {
        rerouteIfStale(place.id, now: now)
        guard entries.isCurrent(place), let entry = entries[place.id] else { return false }
        if blocker(of: entry) != nil {
            block(place.id, isAskedFor: entry.eligibleBy == .admin)
        } else if entry.eligibleBy != .admin, !entry.hasGoodCredentials(at: now) {
            ask(place.id, .credentialsExpired, now: now)
        } else if pauses.mustWaitForPortal(entry) {
            pauses.putAsideForPortal(place, liveCount: entries.count) { entries.isCurrent($0) }
            // mutant: full-disk
        } else if pauses.isPausedByStore(entry), !probesStore {
            origins[entry.origin].addPausedByStore(place, order: pauses.nextPausedOrder())
        } else if origins[entry.origin].putsAside(entry, now: now) {
            origins[entry.origin].putAside(place, of: entry, now: now)
        } else if let gate = entry.parentProxyGate, !origins.admitsThrough(gate, now: now) {
            putAside(place, of: entry, behind: gate)
        } else {
            return true
        }
        return false
    }

    private mutating func start(_ id: EntryID, by trigger: AttemptTrigger, now: Timestamp) {
        guard let entry = entries[id] else { return }
        let isAskedFor = trigger == .admin
        if entry.owesBudget, !isAskedFor { entries[id]?.grant = origins[entry.origin].pay(for: entry.policy).grant }
        let attempt = Entry.Attempt(
            isCanary: origins.shutGate(before: entry) != nil, isAskedFor: isAskedFor, parentProxyGate: entry.parentProxyGate,
            pause: origins[entry.origin].attemptStarts(of: entry.policy))
        transition(id, to: .attempting(attempt), as: .attempted, now: now)
        actions.append(.start(id, trigger))
    }

    /// Every shut gate may send a canary now; what else waits and may be woken goes as its gate admits.
    mutating func wakeAll(now: Timestamp) {
        // While the proxy stops, what is under way may finish, and nothing starts in its place.
        guard !isDraining else { return }
        for id in entries.idsInOrder { wake(id) }
        for origin in origins.inOrder {
            origins[origin].gate.mayBeReachable(now: now)
            toDispatch.insert(origin)
        }
    }

    private mutating func wake(_ id: EntryID) {
        guard let entry = entries[id], entry.policy.wakeOnReachable else { return }
        switch entry.fullState {
        // It may be hanging on a network that is gone.
        case .attempting: abandonAttempt(of: id)
        case .waiting(.due), .waiting(.eligible):
            if entry.isWokenByReachability { makeEligible(id, by: .reachability) }
        case .waiting(.blocked), .held, .undecided, .ended: break
        }
    }

    /// Abandons the attempt of an entry: it is made again if it has sent nothing. An attempt that has connected goes on. The attempt of
    /// an unattended entry has sent something, so it is left alone.
    mutating func abandonAttempt(of id: EntryID) {
        guard let entry = entries[id], !entry.isUnattended, case .attempting(var attempt) = entry.fullState else { return }
        attempt.isAbandoned = true
        entries[id]?.fullState = .attempting(attempt)
        actions.append(.abandonConnecting(id))
    }

    // MARK: Portal and store

    mutating func portalChanged(isBehindPortal isThere: Bool) {
        guard isThere != pauses.isBehindPortal else { return }
        guard !isThere else { return pauses.portalCame() }
        for place in pauses.portalLeft().sorted(by: { entries.isBefore($0.id, $1.id) }) { takeTurnAgain(place, by: .reachability) }
    }

    mutating func startRecordRefused(now: Timestamp) { timers.add(.store, at: pauses.storeRefused(now: now)) }

    mutating func storeRecovered() {
        guard isPausedByStore else { return }
        pauses.storeRecovered()
        for origin in origins.inOrder {
            for place in origins[origin].popAllPausedByStore() { takeTurnAgain(place) }
        }
    }

    /// An entry that was put aside goes on. It was eligible or waited for the gate; either way its turn had come.
    ///
    /// - Parameter trigger: Nil: what let it go before.
    private mutating func takeTurnAgain(_ place: EntryPlace, by trigger: AttemptTrigger? = nil) {
        guard entries.isCurrent(place), let origin = entries[place.id]?.origin else { return }
        makeEligibleAgain(place.id, by: trigger ?? entries[place.id]?.eligibleBy ?? .reachability)
        toDispatch.insert(origin)
    }

    /// When the pause is over: lets one of the tickets that were put aside find out whether the store has recovered. If the
    /// store has not, the ticket goes behind the others.
    mutating func probeStore(now: Timestamp) {
        guard let pauseEnd = pauses.storePauseEnd, pauseEnd <= now, !isPaused,
            pauses.storeProbe.flatMap({ entries[$0]?.state }) != .attempting
        else { return }
        while let origin = origins.longestPausedByStore(now: now),
            let place = origins[origin].popPausedByStore()
        {
            guard mayGo(place, now: now, probesStore: true) else { continue }
            pauses.probeStarted(place.id)
            let isShut = origins.isShut(origin)
            let trigger = entries[place.id]?.eligibleBy ?? (isShut ? .canary : .reachability)
            return start(place.id, by: trigger, now: now)
        }
    }
}
