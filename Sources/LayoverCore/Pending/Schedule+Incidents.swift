/// The incidents in which entries wait. An entry that waits because something is away is a member of that outage, tried or not. An
/// undecided entry is a member of a decision, or of the outage that used up its attempts.
extension Schedule {
    /// Changes of an incident are gathered this long before they are reported, so that an outage of ten thousand
    /// requests is not ten thousand times ten thousand reports. Default: 250 ms.
    private static let incidentGathering: Duration = .milliseconds(250)

    /// Whether an entry waits because something is away.
    func waitsForWhatIsAway(_ entry: Entry) -> Bool {
        guard entry.state == .waiting else { return false }
        // mutant: offline-outside
        return mode == .offline || shutGate(before: entry) != nil || strays.isAfterRestart && hasOutage(entry.origin)
    }

    private func hasOutage(_ origin: Origin) -> Bool {
        incidents.idByTopic[.init(kind: .outage, scope: .origin(origin))] != nil
    }

    // MARK: Joining and leaving

    /// The entry has another state. An undecided entry leaves its outage and joins a decision, unless the outage used up its attempts.
    /// An entry that is no longer undecided leaves its decision.
    mutating func changeIncident(of id: EntryID, to state: Entry.State, from before: Entry, now: Timestamp) {
        var asks = false
        if case .undecided(let why) = state { asks = why != .exhausted }
        if asks || before.why.map({ $0 != .exhausted }) == true { leaveIncident(id, now: now) }
        if asks { joinIncident(.decision, id, now: now) }
    }

    /// - Parameter since: When its outage began, where that is known to have been before now.
    mutating func joinIncident(_ kind: Incident.Kind, _ id: EntryID, since: Timestamp? = nil, now: Timestamp) {
        guard let entry = entries[id], entry.incident == nil else { return }
        joinIncident(kind, entry, since: since, now: now)
    }

    private mutating func joinIncident(_ kind: Incident.Kind, _ entry: Entry, since: Timestamp? = nil, now: Timestamp) {
        let incident = incident(for: entry, kind, cause: entry.lastFailure, since: since, now: now)
        entries[entry.id]?.incident = incident
        if entry.state == .waiting { noteWait(of: entry, in: incident, isBlocked: entry.isBlocked) }
    }

    /// A ticket of an earlier run that is about to join the set joins its outage of then, or that of what it waits for now.
    ///
    /// - Parameter since: When its outage of then began; nil if it waited in none.
    mutating func joinOutage(_ entry: inout Entry, since: Timestamp?, now: Timestamp) {
        guard since != nil || waitsForWhatIsAway(entry) else { return }
        // What it failed by before is the cause of its own outage only.
        entry.incident = incident(for: entry, .outage, cause: since == nil ? nil : entry.lastFailure, since: since, now: now)
    }

    private mutating func incident(
        for entry: Entry, _ kind: Incident.Kind, cause: Failure?, since: Timestamp?, now: Timestamp
    ) -> IncidentID {
        let topic = Incidents.Topic(kind: kind, scope: scope(of: entry, kind))
        let incident = incidents.join(entry.id, cause, topic, since: since, now: now)
        if incidents.hasManyThatLeft(incident, memberCount: entries.memberCount(of: incident)) {
            incidents.dropThoseThatLeft(incident, isMember: entries.isMember)
        }
        touch(incident, now: now)
        return incident
    }

    /// Entries that wait for what is away join its incident, a portion at the end of each fact.
    mutating func joinStrays(now: Timestamp) {
        guard !strays.isEmpty else { return }
        for id in strays.takePortion() {
            guard let entry = entries[id], entry.incident == nil, waitsForWhatIsAway(entry) else { continue }
            joinIncident(.outage, entry, now: now)
        }
        if strays.isEmpty {
            strays.isAfterRestart = false
        } else {
            timers.add(.strays, at: now)
        }
    }

    private func scope(of entry: Entry, _ kind: Incident.Kind) -> Incident.Scope {
        if kind == .outage, mode == .offline || isNetworkAway { return .network }
        let isOfParentProxy = entry.lastFailure.map { $0.kind == .parentProxyUnreachable } ?? true
        guard kind == .outage, isOfParentProxy, let gate = entry.parentProxyGate, origins.isShut(gate) || entry.lastFailure != nil
        else { return .origin(entry.origin) }
        return .parentProxy(gate)
    }

    /// It waits for its parent proxy no more.
    mutating func leaveParentProxyOutage(_ id: EntryID, now: Timestamp) {
        guard let incident = entries[id]?.incident, case .parentProxy? = incidents[incident]?.scope else { return }
        leaveIncident(id, now: now)
    }

    /// It goes by another parent proxy, or by none: it waits in the outage of that one, if it has one. What is out of attempts stays in
    /// the outage that left it without them.
    mutating func changeParentProxyOutage(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state != .undecided else { return }
        leaveParentProxyOutage(id, now: now)
        guard entry.lastFailure?.kind == .parentProxyUnreachable, let gate = entry.parentProxyGate, origins.isShut(gate)
        else { return }
        joinIncident(.outage, id, now: now)
    }

    /// An attempt has failed.
    mutating func changeIncident(of id: EntryID, after parking: Verdict.Parking, now: Timestamp) {
        // Nothing is away where the work may have been done: that is a question, not an outage.
        if parking.asks == .maybeApplied { return leaveIncident(id, now: now) }
        joinIncident(.outage, id, now: now)
        touchIncident(of: id, now: now)
    }

    mutating func leaveIncident(_ id: EntryID, now: Timestamp) {
        let incident = entries[id]?.incident
        entries[id]?.incident = nil
        leave(incident, now: now)
    }

    /// An entry is in the incident no more. The entry may have left the set, too.
    mutating func leave(_ incident: IncidentID?, now: Timestamp) {
        guard let incident else { return }
        if entries.memberCount(of: incident) == 0, let closed = incidents.close(incident) {
            actions.append(.incident(.closed, view(of: closed, now: now)))
        }
        touch(incident, now: now)
    }

    // MARK: Reports

    /// Has the changes of the incident reported soon.
    mutating func touchIncident(of id: EntryID, now: Timestamp) { touch(entries[id]?.incident, now: now) }

    private mutating func touch(_ incident: IncidentID?, now: Timestamp) {
        guard let incident, incidents.touch(incident) else { return }
        timers.add(.incident(incident), at: now + Self.incidentGathering)
    }

    // MARK: Out of attempts

    /// The entry has used up its attempts and asks. The others of its rule that wait for the same origin ask with it.
    mutating func incidentExhausted(of id: EntryID, now: Timestamp) {
        guard let incident = entries[id]?.incident, incidents.exhaust(incident) else { return }
        for member in members(of: incident) { askIfExhausted(member, now: now) }
    }

    /// Makes a waiting member undecided if its incident is out of attempts.
    mutating func askIfExhausted(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, entry.waitEnd == .origin, entry.policy.onExhausted == .ask,
            !entry.isAttemptAskedFor, incidents.isExhausted(entry.incident)
        else { return }
        transition(id, to: .undecided(.exhausted), now: now)
    }

    // MARK: Strays

    /// A gate was shut, or a person went offline: what waits for it joins its incident.
    mutating func lookForStrays() { strays.lookAtAll(entries.inOrder()) }

    /// Tickets of an earlier run are there. Those that were never tried wait in the outage in which others have failed.
    mutating func restarted() {
        guard !incidents.states.isEmpty else { return }
        // mutant: untried-after-restart
        strays.isAfterRestart = true
        lookForStrays()
    }

    /// The members of an incident, in the order of their arrival.
    func members(of id: IncidentID) -> [EntryID] {
        entries.inOrder(Set((incidents[id]?.joined ?? []).filter { entries.isMember($0, of: id) }))
    }

    // MARK: Due times

    /// A waiting entry has another place, or is in another incident.
    ///
    /// - Parameter isBlocked: Whether it cannot go before others now.
    mutating func noteWait(of entry: Entry, in incident: IncidentID?, isBlocked: Bool) {
        guard let incident else {
            if waitsForWhatIsAway(entry) { strays.add(entry.id) }
            return
        }
        guard !isBlocked else { return }
        let memberCount = entries.memberCount(of: incident)
        incidents.waits(entry.id, until: entry.dueAt, in: incident, memberCount: memberCount, isCurrent: isDue(in: incident))
    }

    /// Whether an entry waits for a due time as a member of an incident.
    func isDue(in incident: IncidentID) -> (EntryID, Timestamp) -> Bool {
        let entries = entries
        return { id, dueAt in
            entries.show(id) { $0.incident == incident && $0.dueAt == dueAt && $0.state == .waiting && !$0.isBlocked } ?? false
        }
    }

    /// When the first member of an incident goes by itself; nil when none does.
    func nextAttempt(in incident: Incidents.IncidentState, _ tally: IncidentTally, now: Timestamp) -> Timestamp? {
        guard mode != .offline, !tally.isManualOnly else { return nil }
        let isCurrent = isDue(in: incident.id)
        var dues = incident.dues
        var (due, tries): (Timestamp?, Int) = (nil, 0)
        // The first may be kept back without an end in sight, by a portal or for want of budget; of very many a few are looked at.
        while due == nil, tries < Self.dueTriesMax, let first = dues.first {
            if isCurrent(first.value, first.key), let entry = entries[first.value] {
                due = wait(of: entry, now: now).1
                tries += 1
            }
            if due == nil { _ = dues.popFirst() }
        }
        guard !pauses.isBehindPortal, pauses.storePauseEnd == nil else { return due }
        // The one that is due first need not be woken by its gate; another one goes as its canary then.
        for way in tally.ways.keys {
            let gate = way.parentProxyGate.flatMap { origins.isShut($0) ? $0 : nil } ?? (origins.isShut(way.origin) ? way.origin : nil)
            if let canaryAt = gate.flatMap({ origins.canaryAt($0) }) { due = min(due ?? .distantFuture, max(canaryAt, now)) }
        }
        return due
    }

    /// Most members of which it is looked at when they go. Default: 16.
    private static let dueTriesMax = 16
}

/// Entries that may have to join the incident of what they wait for. They are looked at in portions: there may be very many.
struct Strays: Sendable {
    /// Most entries that are looked at, and may join, at the end of one fact. Default: 2 000, which takes a few milliseconds.
    static let portion = 2000

    /// Entries with a new place.
    private var ids: [EntryID] = []
    /// All entries, where they are looked at.
    private var order: [ArrivalOrder.Item] = []
    private var next = 0
    /// How many of them are still to be looked at: a second look at all goes on at the place of the first, and around.
    private var left = 0
    /// Whether those of an earlier run are among them.
    var isAfterRestart = false

    var isEmpty: Bool { ids.isEmpty && left == 0 }

    mutating func add(_ id: EntryID) { ids.append(id) }

    mutating func lookAtAll(_ items: [ArrivalOrder.Item]) {
        let place = left > 0 && next < order.count ? ArrivalOrder.index(notBefore: order[next].sequence, in: items) : 0
        (order, next, left) = (items, place, items.count)
    }

    mutating func takePortion() -> [EntryID] {
        var taken = Array(ids.prefix(Self.portion))
        ids.removeFirst(taken.count)
        while left > 0, taken.count < Self.portion {
            if next == order.count { next = 0 }
            taken.append(order[next].id)
            next += 1
            left -= 1
        }
        if left == 0 { (order, next) = ([], 0) }
        return taken
    }
}
