extension PendingSet {
    /// Changes the line of an origin, made anew if there is none.
    mutating func line(of origin: Origin, _ work: (inout OriginLine) -> Void) {
        work(&lines[
            origin,
            default: OriginLine(gate: OriginGate(windowMax: limits.perOriginAttemptCountMax))])
    }

    /// Puts a waiting entry where its due time and its gate will find it.
    mutating func place(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting else { return }
        guard blocker(of: entry) == nil else { return block(id, askedFor: false) }
        guard entry.hasGoodCredentials(at: now) else { return ask(id, .credentialsExpired, now: now) }
        let place = newPlace(of: id)
        entries[id]?.eligibleBy = nil
        // mutant: forgotten-timer
        timers.push(.due(place), key: max(entry.dueAt, now))
        if entry.waitsForOrigin, entry.isWokenByReachability {
            line(of: entry.origin) { $0.blocked.push(place, key: entry.dueAt) }
            dropStalePlaces(of: entry.origin)
        }
    }

    /// Lets a waiting entry go as soon as its gate has room.
    mutating func makeEligible(_ id: EntryID, by trigger: AttemptTrigger) {
        guard let entry = entries[id], entry.state == .waiting else { return }
        guard blocker(of: entry) == nil else { return block(id, askedFor: trigger == .admin) }
        // A person's word outranks the priority, and what is eligible already keeps its place.
        guard entry.eligibleBy == nil || trigger == .admin else { return }
        let place = newPlace(of: id)
        entries[id]?.eligibleBy = trigger
        let turn = OriginLine.Turn(
            priority: trigger == .admin ? -1 : entry.priority, sequence: entry.sequence)
        line(of: entry.origin) { line in
            if entry.isBig { line.bigEligible.push(place, key: turn) } else { line.eligible.push(place, key: turn) }
        }
        dropStalePlaces(of: entry.origin)
    }

    /// Makes what any heap says of an entry stale.
    private mutating func newPlace(of id: EntryID) -> EntryPlace {
        entries[id]?.placement += 1
        // An id without an entry has no place anywhere.
        return EntryPlace(id: id, placement: entries[id]?.placement ?? 0)
    }

    /// Whether nobody goes by itself, wherever to.
    // mutant: offline
    var isAtRest: Bool { mode == .offline || isDraining || isRestoring }

    /// Starts as many attempts to an origin as its gate admits.
    mutating func dispatch(_ origin: Origin, now: Timestamp) {
        guard !isAtRest else { return }
        while let line = lines[origin], line.admits(now: now) {
            guard let id = nextToGo(origin, now: now) else { return }
            let trigger = entries[id]?.eligibleBy ?? .canary
            start(id, trigger: trigger, now: now)
        }
    }

    /// The first eligible entry; while the gate is shut, otherwise the first that waits for the origin.
    private mutating func nextToGo(_ origin: Origin, now: Timestamp) -> EntryID? {
        while let place = lines[origin]?.nextEligible() {
            if mayGo(place, now: now) { return place.id }
        }
        guard lines[origin]?.gate.isShut == true else { return nil }
        while let (_, place) = lines[origin]?.blocked.popFirst() {
            if mayGo(place, now: now) { return place.id }
        }
        return nil
    }

    /// Whether the entry is still there and nothing keeps it back. What must not meet a captive portal is put
    /// aside until the portal is gone, and a ticket until the store is well; a person's word counts more.
    ///
    /// - Parameter asksStore: Whether it goes to find out whether the store is well.
    mutating func mayGo(_ place: EntryPlace, now: Timestamp, asksStore: Bool = false) -> Bool {
        guard isCurrent(place), let entry = entries[place.id] else { return false }
        guard blocker(of: entry) == nil else {
            block(place.id, askedFor: entry.eligibleBy == .admin)
            return false
        }
        guard entry.eligibleBy == .admin || entry.hasGoodCredentials(at: now) else {
            ask(place.id, .credentialsExpired, now: now)
            return false
        }
        // mutant: portal
        if isBehindPortal, entry.isExposed, entry.eligibleBy != .admin {
            keepFromPortal(place)
            return false
        }
        // mutant: full-disk
        guard isKeptFromStore(entry), !asksStore else { return true }
        keepFromStore(place, of: entry.origin)
        return false
    }

    private mutating func keepFromPortal(_ place: EntryPlace) {
        keptFromPortal.insert(place)
        // Behind a portal that stays nobody comes by to find that an entry is not there any more.
        if keptFromPortal.count > 100 + 2 * entries.count { keptFromPortal = keptFromPortal.filter(isCurrent) }
    }

    func isCurrent(_ place: EntryPlace) -> Bool {
        guard let entry = entries[place.id] else { return false }
        return entry.state == .waiting && place.isPlace(of: entry)
    }

    mutating func start(_ id: EntryID, trigger: AttemptTrigger, now: Timestamp) {
        guard let entry = entries[id] else { return }
        let isCanary = lines[entry.origin]?.gate.isShut ?? false
        line(of: entry.origin) { $0.started(isBig: entry.isBig) }
        change(id, as: .attempted) { entry in
            entry.state = .attempting
            entry.placement += 1
            entry.eligibleBy = nil
            entry.isCanary = isCanary
            entry.isAskedFor = trigger == .admin
            entry.isBlocked = false
            entry.isWanted = false
        }
        laneStarted(id)
        touchIncident(entries[id]?.incident, now: now)
        actions.append(.start(id, trigger))
    }

    /// Gives back to the budget what a status retry took.
    ///
    /// - Parameter wasMade: Whether the retry was made.
    mutating func giveGrantBack(_ id: EntryID, wasMade: Bool) {
        guard let entry = entries[id], let grant = entry.grant else { return }
        line(of: entry.origin) { $0.end(grant, of: entry.policy, wasMade: wasMade) }
        entries[id]?.grant = nil
    }

    /// Everything that waits for the origin may go: it answers again.
    mutating func release(_ origin: Origin, by trigger: AttemptTrigger) {
        guard var blocked = lines[origin]?.blocked, blocked.count > 0 else { return }
        lines[origin]?.blocked = PendingHeap()
        while let (_, place) = blocked.popFirst() {
            if isCurrent(place) { makeEligible(place.id, by: trigger) }
        }
    }

    /// Takes an entry out of the set. It ends exactly once: whoever comes later finds no entry.
    mutating func finish(_ id: EntryID, as state: EntryState, now: Timestamp) {
        guard var entry = entries.removeValue(forKey: id) else { return }
        line(of: entry.origin) { line in
            line.entryCount -= 1
            if entry.state == .attempting { line.stopped(isBig: entry.isBig) }
        }
        // mutant: miscounted
        if entry.isHeldByClient { heldCount -= 1 }
        // mutant: spent-budget
        if let grant = entry.grant {
            line(of: entry.origin) { $0.end(grant, of: entry.policy, wasMade: entry.state == .attempting) }
        }
        // mutant: endless-incident
        leaveIncident(id, of: entry.incident, now: now)
        entry.revision += 1
        entry.why = nil
        entry.state = state
        entry.endedAt = now
        entry.waitingFor = nil
        entry.nextAttemptAt = nil
        history.remember(entry)
        dropStaleTimers()
        actions.append(.report(.ended, id))
        dropMark(of: entry)
        leaveParents(id)
        parentEnded(id, as: state, now: now)
        leaveLane(id, entry.lane, now: now)
    }

    /// Behind a gate that stays shut nobody comes by to find that an entry is not there any more.
    private mutating func dropStalePlaces(of origin: Origin) {
        guard var line = lines[origin] else { return }
        let placeCountMax = 100 + 2 * line.entryCount
        let count = max(line.blocked.count, line.eligible.count, line.bigEligible.count, line.keptFromStore.count)
        guard count > placeCountMax else { return }
        line.blocked.removeAll { !isCurrent($1) }
        line.eligible.removeAll { !isCurrent($1) }
        line.bigEligible.removeAll { !isCurrent($1) }
        line.keptFromStore.removeAll { !isCurrent($1) }
        lines[origin] = line
    }

    /// Timers of entries that are gone come up in their time; this keeps them from piling up until then.
    private mutating func dropStaleTimers() {
        guard timers.count > 1000 + 4 * (entries.count + lines.count) else { return }
        var timers = timers
        // Deadlines are moved by reloads and by people; one timer for each is enough.
        var hasExpiry: Set<EntryID> = []
        timers.removeAll { at, timer in
            switch timer {
            case .due(let place): !isCurrent(place)
            case .expiry(let id): entries[id].map { at < $0.expiresAt || !hasExpiry.insert(id).inserted } ?? true
            case .credentials(let id): entries[id] == nil
            case .canary(let origin): lines[origin]?.gate.canaryAt != at
            case .store: storeTrouble?.until != at
            case .incident(let id): incidentLines[id] == nil
            }
        }
        self.timers = timers
    }

    /// Tells the loops if an origin stands differently from what they know.
    mutating func announce(_ origin: Origin) {
        guard var line = lines[origin] else { return }
        let isWorthRemembering = line.entryCount > 0 || lines.count <= limits.rememberedOriginCountMax
        let notice: OriginNotice =
            line.gate.isShut && isWorthRemembering ? .shut
            : line.entryCount > 0 ? .watched : .forgotten
        if notice != line.notice {
            line.notice = notice
            lines[origin] = line
            actions.append(.announce(origin, notice))
        }
        if notice == .forgotten, line.underWay == 0 { lines[origin] = nil }
    }
}
