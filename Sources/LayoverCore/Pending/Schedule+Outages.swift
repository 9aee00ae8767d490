/// Entries that wait because something is away: each is a member of the incident of what is away, whether it was tried or not.
extension Schedule {
    /// Whether an entry waits because something is away.
    func waitsForWhatIsAway(_ entry: Entry) -> Bool {
        guard entry.state == .waiting else { return false }
        // mutant: offline-outside
        return mode == .offline || shutGate(before: entry) != nil || strays.isAfterRestart && hasOutage(entry.origin)
    }

    private func hasOutage(_ origin: Origin) -> Bool {
        incidents.idByTopic[.init(kind: .outage, scope: .origin(origin))] != nil
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
        if !isBlocked { incidents.waits(entry.id, until: entry.dueAt, in: incident, isCurrent: isDue(in: incident)) }
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
