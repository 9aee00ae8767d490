import Retry

/// The pending set: every exchange that waits or is being replayed, and the rules of when each may go.
///
/// A pure machine. Facts come in with their time, actions go out; the engine performs them. An entry
/// waits until its due time, until the way to its origin is open again, or until a person says so,
/// whichever comes first; then it is *eligible*, and the gate of its origin says when it goes. The same
/// rules hold for the first replay and for the hundredth.
///
/// Three rules that everything here serves: an entry ends exactly once; a cancelled entry never starts
/// again; while a gate is shut at most one attempt is under way to its origin.
package struct PendingSet: Sendable {
    package let limits: PendingLimits
    let naming: EntryNaming
    package internal(set) var mode = ReachabilityMode.auto
    /// Whether the monitor says that the network as a whole is away. Only for what people are told.
    package var isNetworkAway = false
    /// Whether somebody else answers for every origin: a captive portal.
    package internal(set) var isBehindPortal = false
    package internal(set) var heldCount = 0

    var entries = EntryTable()
    var policies = SharedPolicies()
    var lines: [Origin: OriginLine] = [:]
    var timers = PendingHeap<Timestamp, PendingTimer>()
    var history = EntryHistory()
    var sequence = 0
    package internal(set) var isDraining = false
    /// Whether tickets of an earlier run are still being read: nobody goes before all of them are there.
    var isRestoring = false
    /// Eligible entries that wait for a captive portal to go away.
    var keptFromPortal: Set<EntryPlace> = []
    /// Nil while the store takes the marks of attempts.
    var storeTrouble: StoreTrouble?
    /// Counts the tickets that were kept from the store, for their order.
    var keptCount = 0
    var incidentLines: [IncidentID: IncidentLine] = [:]
    var incidentByScope: [Incident.Scope: IncidentID] = [:]
    /// What the budget gave for the entry that is joining.
    var newGrant: RetryBudget.Grant?
    var lanes: [String: LaneLine] = [:]
    /// The newest PUT to each URL whose body is there whole, and those after it whose bodies are still arriving, where
    /// policies say that they may be superseded.
    var lastPuts: [String: [PutMark]] = [:]
    /// The parents that a ticket still waits for; nothing for one that waits for none.
    var parentsLeft: [EntryID: Set<EntryID>] = [:]
    /// The parents that were not delivered, and without which a person had a ticket sent; nothing where there are none.
    var excusedParents: [EntryID: [EntryID]] = [:]
    /// The tickets that wait for a ticket.
    var children: [EntryID: Set<EntryID>] = [:]
    /// Origins of entries that the fact at hand set free.
    var toDispatch: Set<Origin> = []
    /// Tickets that were admitted and are not on disk yet.
    var acceptingCount = 0
    /// Incidents that the fact at hand has opened.
    var opened: [IncidentID] = []
    /// Gathered while a fact is worked on.
    var actions: [PendingAction] = []

    package init(limits: PendingLimits = .init(), naming: EntryNaming = .plain) {
        self.limits = limits
        self.naming = naming
        history = EntryHistory(countMax: limits.rememberedCountMax)
    }

    // MARK: Views

    /// Entries in the set, in no order.
    package var liveEntries: some Collection<Entry> & Sendable { entries.values }
    package var count: Int { entries.count }
    package func isLive(_ id: EntryID) -> Bool { entries[id] != nil }

    /// How many entries are in each live state.
    package var counts: [EntryState: Int] {
        let counted = entries.stateCounts
        return Dictionary(uniqueKeysWithValues: EntryState.live.map { ($0, counted[$0] ?? 0) })
    }

    /// The entry as it stands at a moment, live or remembered; nil if there is none.
    package func entry(_ id: EntryID, now: Timestamp) -> Entry? {
        guard let entry = entries[id] else { return history[id] }
        return described(entry, now: now)
    }

    /// Fills in what depends on the gate: what it waits for and when it goes.
    package func described(_ entry: Entry, now: Timestamp) -> Entry {
        var entry = entry
        guard entry.state == .waiting else {
            entry.waitingFor = nil
            entry.nextAttemptAt = nil
            return entry
        }
        let gate = lines[entry.origin]?.gate
        let isShut = gate?.isShut ?? false
        let isSetFree = isShut && entry.waitsForOrigin && entry.isWokenByReachability
        let pauseEnd = storePauseEnd(of: entry) ?? now
        let mayGoAt = max(entry.eligibleBy == nil && !isSetFree ? entry.dueAt : now, pauseEnd)
        entry.nextAttemptAt = isShut ? max(mayGoAt, gate?.canaryAt ?? now) : mayGoAt
        if let blocker = blocker(of: entry) {
            entry.waitingFor = blocker
            entry.nextAttemptAt = nil
            return entry
        }
        if mode == .offline || isBehindPortal && entry.isExposed && entry.eligibleBy != .admin {
            entry.waitingFor = .network
            entry.nextAttemptAt = nil
        } else if isShut {
            entry.waitingFor = isNetworkAway ? .network : .origin
        } else {
            entry.waitingFor = entry.eligibleBy == nil || pauseEnd > now ? .time : .turn
        }
        return entry
    }

    /// When `advance(to:)` wants to be called next; nil while nothing is due.
    package var nextWakeAt: Timestamp? { timers.first?.key }

    /// The origins whose gate is shut.
    package var shutOrigins: [Origin] { lines.filter { $0.value.gate.isShut }.map(\.key) }

    /// The ids of all entries in the order of their arrival: what a fact does to many must not hang on the order
    /// of a dictionary.
    package var idsInOrder: [EntryID] {
        // Only what is sorted is copied: entries are big, and there may be very many.
        entries.values.map { (sequence: $0.sequence, id: $0.id) }.sorted { $0.sequence < $1.sequence }.map(\.id)
    }

    /// Whether one came before another.
    func isBefore(_ one: EntryID, _ other: EntryID) -> Bool {
        (entries[one]?.sequence ?? 0) < (entries[other]?.sequence ?? 0)
    }

    // MARK: Working on a fact

    /// Runs one fact and hands out what is to be done.
    mutating func gather(now: Timestamp, _ work: (inout Self) -> Void) -> [PendingAction] {
        work(&self)
        repeat {
            let origins = toDispatch.sorted(by: Origin.isBefore)
            toDispatch = []
            for origin in origins { dispatch(origin, now: now) }
            askStore(now: now)
        } while !toDispatch.isEmpty
        tellOpened(now: now)
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// Changes an entry, counts the revision, and reports it.
    mutating func change(
        _ id: EntryID, as event: EntryEventKind = .changed, _ work: (inout Entry) -> Void
    ) {
        guard entries[id] != nil else { return }
        entries[id]?.revision += 1
        if var entry = entries[id] {
            work(&entry)
            entries[id] = entry
        }
        actions.append(.report(event, id))
    }
}
