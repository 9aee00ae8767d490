/// Which of the waiting entries go, and when.
///
/// An entry is *free* when it comes after no other: its lane, or a ticket that it depends on. Only free entries are ever
/// eligible; the others wait outside of all heaps, marked as blocked, until those before them are done.
extension Schedule {
    // MARK: Places

    /// What a waiting entry waits for, and when it goes by itself.
    func wait(of entry: Entry, now: Timestamp) -> (WaitReason, Timestamp?) {
        if let blocker = blocker(of: entry) { return (blocker, nil) }
        if mode == .offline || pauses.keepsFromPortal(entry) { return (.network, nil) }
        let gate = shutGate(before: entry)
        let isShut = gate != nil
        let pauseEnd = pauses.isPausedByStore(entry) ? pauses.storePauseEnd ?? now : now
        let isFree = entry.eligibleBy != nil || isShut && entry.isWokenByOrigin
        let mayGoAt = max(isFree ? now : entry.dueAt, pauseEnd)
        if isShut { return (isNetworkAway ? .network : .origin, max(mayGoAt, gate.flatMap { origins.canaryAt($0) } ?? now)) }
        let end = origins.pause(of: entry, now: now)?.end ?? now
        if end > now, mayGoAt <= end { return (.pause, end) }
        // After the end of a pause, and in want of the budget, it waits for others.
        if entry.eligibleBy != nil, origins[entry.origin].keeps(entry, now: now) { return (.pause, nil) }
        return (entry.eligibleBy == nil || pauseEnd > now ? .time : .turn, mayGoAt)
    }

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
        let gate = shutGate(before: entry) ?? entry.origin
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
        } else if shutGate(before: entry) == nil, entry.dueAt <= now || entry.isWokenByOrigin {
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
    var isAtRest: Bool { mode == .offline || isDraining || isRestoring }

    /// Starts as many attempts to an origin as its gate admits.
    mutating func dispatch(_ origin: Origin, now: Timestamp) {
        guard !isAtRest, origins.isKnown(origin) else { return }
        releaseWithheld(to: origin, now: now)
        while origins[origin].admits(now: now), let place = nextToGo(origin, now: now) {
            start(place.id, by: entries[place.id]?.eligibleBy ?? .canary, now: now)
        }
    }

    /// Lets go on what a pause or the budget kept back, as far as there is room.
    private mutating func releaseWithheld(to origin: Origin, now: Timestamp) {
        guard !origins[origin].pacings.isEmpty else { return }
        let pausedBefore = origins[origin].pausedPolicies
        for place in origins[origin].takeKept(now: now, current: { entries.isCurrent($0) ? entries[$0.id] : nil }) {
            makeEligibleAgain(place.id, by: entries[place.id]?.eligibleBy ?? .reachability)
        }
        if origins[origin].pausedPolicies != pausedBefore { toAnnounce.insert(origin) }
    }

    private mutating func nextToGo(_ origin: Origin, now: Timestamp) -> EntryPlace? {
        while let place = origins[origin].popNext() {
            if mayGo(place, now: now) { return place }
        }
        return nil
    }

    /// Whether an entry is still there and nothing keeps it back. What must not meet a captive portal, and a ticket while
    /// the store takes no start records, is put aside.
    ///
    /// - Parameter probesStore: Whether it goes to find out whether the store has recovered.
    mutating func mayGo(_ place: EntryPlace, now: Timestamp, probesStore: Bool = false) -> Bool {
        rerouteIfStale(place.id, now: now)
        guard entries.isCurrent(place), let entry = entries[place.id] else { return false }
        if blocker(of: entry) != nil {
            block(place.id, isAskedFor: entry.eligibleBy == .admin)
        } else if entry.eligibleBy != .admin, !entry.hasGoodCredentials(at: now) {
            ask(place.id, .credentialsExpired, now: now)
        } else if pauses.keepsFromPortal(entry) {
            pauses.keepFromPortal(place, liveCount: entries.count) { entries.isCurrent($0) }
        // mutant: full-disk
        } else if pauses.isPausedByStore(entry), !probesStore {
            origins[entry.origin].addPausedByStore(place, order: pauses.nextPausedOrder())
        } else if origins[entry.origin].keeps(entry, now: now) {
            origins[entry.origin].keep(place, of: entry)
        } else if let gate = entry.parentProxyGate, !parentProxyAdmits(gate, now: now) {
            putAside(place, of: entry, behind: gate)
        } else {
            return true
        }
        return false
    }

    mutating func start(_ id: EntryID, by trigger: AttemptTrigger, now: Timestamp) {
        guard let entry = entries[id] else { return }
        let isAskedFor = trigger == .admin
        if entry.owesBudget, !isAskedFor { entries[id]?.grant = origins[entry.origin].pay(for: entry.policy).grant }
        let attempt = Entry.Attempt(
            isCanary: shutGate(before: entry) != nil, isAskedFor: isAskedFor, parentProxyGate: entry.parentProxyGate,
            pause: origins[entry.origin].attemptStarts(of: entry.policy))
        transition(id, to: .attempting(attempt), as: .attempted, now: now)
        actions.append(.start(id, trigger))
    }

    // MARK: Origins

    /// What a failure says about its origin.
    ///
    /// - Parameter isPaused: Whether the origin has asked for a pause, which says how many go after it.
    mutating func learn(
        from failure: Failure, of entry: (policy: Policy, origin: Origin, parentProxyGate: Origin?), shutsGate: Bool,
        isPaused: Bool = false, isFromCanary: Bool, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        let isOfParentProxy = failure.kind == .parentProxyUnreachable
        // Nothing goes through that proxy any more.
        if isOfParentProxy, let gate = entry.parentProxyGate, !origins.isKnown(gate) { return }
        let origin = isOfParentProxy ? entry.parentProxyGate ?? entry.origin : entry.origin
        if failure.provesParentProxy { parentProxyReached(entry.parentProxyGate, isAnswered: true, now: now) }
        // A response that is not delivered: the origin is there, and not well.
        if failure.evidence == .answered { return originOpened(origin, isPaused ? .paused : .busy, now: now) }
        // The origin answered, and is well.
        if failure.kind == .outcomeUnknown { return originOpened(origin, now: now) }
        let before = origins[origin].gate
        // A canary that connected and was then let down proves no response either; the next one waits too.
        if shutsGate || isFromCanary && (before.isShut || before.isUnconfirmed) {
            let delayMax = entry.policy.isShortHold ? OriginState.nearCanaryDelayMax : origins[origin].canaryDelayMax(origin)
            origins[origin].gate.failed(
                isFromCanary: isFromCanary, delay: entry.policy.delay, delayMax: delayMax, now: now, using: &generator)
            if let canaryAt = origins.canaryAt(origin), canaryAt != before.canaryAt {
                timers.add(.canary(origin), at: canaryAt)
            }
            if !before.isShut {
                actions.append(.gate(origin, isShut: true))
                // mutant: untried-outside
                lookForStrays()
            }
        } else if !failure.phase.isBeforeSending {
            origins[origin].gate.wentWrong()
        }
        originChanged(origin)
    }

    /// One that cannot wait long may have joined.
    mutating func limitCanaryDelay(of origin: Origin, now: Timestamp) {
        guard origins.isShut(origin), let delayMax = origins[origin].canaryDelayMax(origin) else { return }
        let before = origins.canaryAt(origin)
        origins[origin].gate.canaryMayGo(by: now + delayMax)
        if let canaryAt = origins.canaryAt(origin), canaryAt != before { timers.add(.canary(origin), at: canaryAt) }
    }

    mutating func originOpened(_ origin: Origin, _ health: OriginGate.Health = .well, now: Timestamp) {
        let wasShut = origins.isShut(origin)
        origins[origin].gate.answered(health)
        // An origin on this machine proves nothing about the network.
        if wasShut, !origin.isLoopback { actions.append(.gate(origin, isShut: false)) }
        // After a restart the gate is open though the incident goes on.
        incidents.originOpened(origin)
        wakeWaiting(for: origin)
    }

    /// A connection to an origin stands. Whether the origin is well is not known yet, so its incident goes on.
    mutating func originConnected(_ origin: Origin) {
        let wasShut = origins.isShut(origin)
        // mutant: slow-canary
        origins[origin].gate.connected()
        toDispatch.insert(origin)
        guard wasShut, !origins.isShut(origin) else { return }
        if !origin.isLoopback { actions.append(.gate(origin, isShut: false)) }
        wakeWaiting(for: origin)
    }

    /// Lets everything that waits for a gate have its turn, as far as the gate admits.
    mutating func wakeWaiting(for origin: Origin) {
        for place in origins[origin].popWaiting() where entries.isCurrent(place) {
            makeEligible(place.id, by: .reachability)
            // Behind a parent proxy there are others than this one.
            if let own = entries[place.id]?.origin { toDispatch.insert(own) }
        }
        originChanged(origin)
    }

    // MARK: Time

    /// Does what is due.
    mutating func advance(to now: Timestamp) {
        while let (at, timer) = timers.popDue(at: now) {
            switch timer {
            case .due(let place):
                guard entries.isCurrent(place), let origin = entries[place.id]?.origin else { continue }
                makeEligible(place.id, by: .dueTime)
                toDispatch.insert(origin)
            case .expiry(let id): expire(id, now: now)
            case .credentials(let id): credentialsExpired(id, now: now)
            case .incident(let id):
                incidents.dropStaleDues(of: id, memberCount: entries.memberCount(of: id), isDue(in: id))
                if let changed = incidents.takeChanged(id) { actions.append(.incident(.updated, view(of: changed, now: now))) }
            // The next portion joins at the end of the fact.
            case .strays: break
            // At the end of the fact it is seen that the pause is over.
            case .store: break
            case .pause(let origin): toDispatch.insert(origin)
            case .canary(let origin): if origins.canaryAt(origin) == at { toDispatch.insert(origin) }
            }
        }
    }
}
