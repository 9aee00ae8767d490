extension PendingSet {
    /// Changes the line of an origin, made anew if there is none.
    mutating func line(of origin: Origin, _ work: (inout OriginLine) -> Void) {
        work(&lines[
            origin,
            default: OriginLine(gate: OriginGate(windowMax: limits.perOriginAttemptCountMax))])
    }

    /// Puts a waiting entry where its due time and its gate will find it.
    mutating func place(_ id: EntryID, now: Timestamp) {
        guard var entry = entries[id], entry.state == .waiting else { return }
        entry.placement += 1
        entry.eligibleBy = nil
        entries[id] = entry
        let place = EntryPlace(id: id, placement: entry.placement)
        timers.push(.due(place), key: max(entry.dueAt, now))
        if entry.waitsForOrigin, entry.isWokenByReachability {
            line(of: entry.origin) { $0.blocked.push(place, key: entry.dueAt) }
            dropStalePlaces(of: entry.origin)
        }
    }

    /// Lets a waiting entry go as soon as its gate has room.
    mutating func makeEligible(_ id: EntryID, by trigger: AttemptTrigger) {
        guard var entry = entries[id], entry.state == .waiting else { return }
        // A person's word outranks the priority, and what is eligible already keeps its place.
        guard entry.eligibleBy == nil || trigger == .admin else { return }
        entry.placement += 1
        entry.eligibleBy = trigger
        entries[id] = entry
        let turn = OriginLine.Turn(
            priority: trigger == .admin ? -1 : entry.policy.priority, sequence: entry.sequence)
        line(of: entry.origin) {
            $0.eligible.push(EntryPlace(id: id, placement: entry.placement), key: turn)
        }
        dropStalePlaces(of: entry.origin)
    }

    /// Starts as many attempts to an origin as its gate admits.
    mutating func dispatch(_ origin: Origin, now: Timestamp) {
        guard mode != .offline, !isDraining else { return }
        while let line = lines[origin], line.entryCount > line.underWay,
            line.gate.admits(underWay: line.underWay, freshUnderWay: line.freshUnderWay, now: now)
        {
            guard let id = nextToGo(origin) else { return }
            let trigger = entries[id]?.eligibleBy ?? .canary
            start(id, trigger: trigger, now: now)
        }
    }

    /// The first eligible entry; while the gate is shut, otherwise the first that waits for the origin.
    private mutating func nextToGo(_ origin: Origin) -> EntryID? {
        guard var line = lines[origin] else { return nil }
        defer { lines[origin] = line }
        while let (_, place) = line.eligible.popFirst() {
            if mayGo(place) { return place.id }
        }
        guard line.gate.isShut else { return nil }
        while let (_, place) = line.blocked.popFirst() {
            if mayGo(place) { return place.id }
        }
        return nil
    }

    /// Whether the entry is still there and nothing keeps it back. What must not meet a captive portal is put
    /// aside until the portal is gone; a person's word counts more.
    private mutating func mayGo(_ place: EntryPlace) -> Bool {
        guard isCurrent(place), let entry = entries[place.id] else { return false }
        guard isBehindPortal, entry.isExposed, entry.eligibleBy != .admin else { return true }
        keptFromPortal.insert(place)
        // Behind a portal that stays nobody comes by to find that an entry is not there any more.
        if keptFromPortal.count > 100 + 2 * entries.count { keptFromPortal = keptFromPortal.filter(isCurrent) }
        return false
    }

    func isCurrent(_ place: EntryPlace) -> Bool {
        guard let entry = entries[place.id] else { return false }
        return entry.state == .waiting && entry.placement == place.placement
    }

    mutating func start(_ id: EntryID, trigger: AttemptTrigger, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        let isCanary = lines[origin]?.gate.isShut ?? false
        line(of: origin) { $0.underWay += 1 }
        change(id, as: .attempted) { entry in
            entry.state = .attempting
            entry.placement += 1
            entry.eligibleBy = nil
            entry.isCanary = isCanary
            entry.isAskedFor = trigger == .admin
        }
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
            if entry.state == .attempting { line.underWay -= 1 }
        }
        heldCount -= 1
        if let grant = entry.grant {
            line(of: entry.origin) { $0.end(grant, of: entry.policy, wasMade: entry.state == .attempting) }
        }
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
    }

    /// Behind a gate that stays shut nobody comes by to find that an entry is not there any more.
    private mutating func dropStalePlaces(of origin: Origin) {
        guard var line = lines[origin] else { return }
        let placeCountMax = 100 + 2 * line.entryCount
        guard line.blocked.count > placeCountMax || line.eligible.count > placeCountMax else { return }
        line.blocked.removeAll { !isCurrent($0) }
        line.eligible.removeAll { !isCurrent($0) }
        lines[origin] = line
    }

    /// Timers of entries that are gone come up in their time; this keeps them from piling up until then.
    private mutating func dropStaleTimers() {
        guard timers.count > 1000 + 4 * (entries.count + lines.count) else { return }
        var timers = timers
        timers.removeAll { timer in
            switch timer {
            case .due(let place): !isCurrent(place)
            case .expiry(let id): entries[id] == nil
            case .canary(let origin): lines[origin] == nil
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
