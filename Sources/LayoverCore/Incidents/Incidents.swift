/// The open incidents and their members.
struct Incidents: Sendable {
    /// What an incident is about. There is one incident for each.
    struct Topic: Sendable, Hashable {
        var kind: Incident.Kind
        var scope: Incident.Scope
    }

    /// An incident and its members.
    struct IncidentState: Sendable {
        let id: IncidentID
        let kind: Incident.Kind
        let scope: Incident.Scope
        var topic: Topic { Topic(kind: kind, scope: scope) }
        fileprivate(set) var since: Timestamp
        fileprivate(set) var cause: Incident.Cause?
        /// Entries that have joined, in that order. Some may have left, and an entry that has come again is there twice
        /// (`PendingSet.members(of:)`).
        fileprivate(set) var joined: [EntryID] = []
        /// Members that wait and come after no others, by their due times. An item is stale when its entry has another due time,
        /// waits no longer, or is in another incident.
        fileprivate(set) var dues = PendingHeap<Timestamp, EntryID>()
        /// Whether a member under `onExhausted: ask` has used up its attempts: then no other under that rule goes on
        /// by itself, so that people are asked once and not once for each request.
        fileprivate(set) var isExhausted = false
        /// Whether changes wait to be reported.
        fileprivate var isDirty = false
    }

    private(set) var states: [IncidentID: IncidentState] = [:]
    private(set) var idByTopic: [Topic: IncidentID] = [:]
    /// Source of ids.
    private var generator: SplitMix64
    /// Those that the fact at hand has opened.
    private var opened: [IncidentID] = []

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    var count: Int { states.count }
    subscript(id: IncidentID) -> IncidentState? { states[id] }

    // MARK: Membership

    /// An entry that is in no incident joins one.
    ///
    /// - Parameter since: When its outage began, where that is known to have been before now.
    /// - Returns: The incident of the new member.
    mutating func join(_ member: EntryID, _ failure: Failure?, _ topic: Topic, since: Timestamp?, now: Timestamp) -> IncidentID {
        let id = idByTopic[topic] ?? IncidentID(using: &generator)
        if states[id] == nil {
            states[id] = IncidentState(id: id, kind: topic.kind, scope: topic.scope, since: since ?? now)
            idByTopic[topic] = id
            opened.append(id)
        }
        if let since, let known = states[id]?.since { states[id]?.since = min(known, since) }
        states[id]?.joined.append(member)
        noteCause(failure, of: id)
        return id
    }

    /// Whether entries that have left are most of `joined`.
    func hasManyThatLeft(_ id: IncidentID, memberCount: Int) -> Bool {
        states[id].map { $0.joined.count > 100 + 2 * memberCount } ?? false
    }

    /// - Parameter isMember: Whether an entry is in an incident now, but for the last that has joined.
    mutating func dropThoseThatLeft(_ id: IncidentID, isMember: (EntryID, IncidentID) -> Bool) {
        guard let last = states[id]?.joined.popLast() else { return }
        var known: Set = [last]
        states[id]?.joined.removeAll { !isMember($0, id) || !known.insert($0).inserted }
        states[id]?.joined.append(last)
    }

    /// The first failure of a member is the incident's cause.
    mutating func noteCause(_ failure: Failure?, of id: IncidentID?) {
        guard let id, let failure, states[id]?.cause == nil else { return }
        states[id]?.cause = Incident.Cause(kind: failure.kind, phase: failure.phase)
    }

    /// The last member has left.
    ///
    /// - Returns: The incident if it was reported before.
    mutating func close(_ id: IncidentID) -> IncidentState? {
        guard let state = states.removeValue(forKey: id) else { return nil }
        idByTopic[state.topic] = nil
        guard let index = opened.firstIndex(of: id) else { return state }
        opened.remove(at: index)
        return nil
    }

    // MARK: Due times

    /// A member waits for its due time, or for something that comes before it.
    mutating func waits(
        _ member: EntryID, until dueAt: Timestamp, in id: IncidentID, memberCount: Int, isCurrent: (EntryID, Timestamp) -> Bool
    ) {
        guard states[id] != nil else { return }
        states[id]?.dues.push(member, key: dueAt)
        dropStaleDues(of: id, memberCount: memberCount, isCurrent)
    }

    /// Drops what is stale at the beginning, and all of it where it would pile up.
    mutating func dropStaleDues(of id: IncidentID, memberCount: Int, _ isCurrent: (EntryID, Timestamp) -> Bool) {
        while let first = states[id]?.dues.first, !isCurrent(first.value, first.key) { _ = states[id]?.dues.popFirst() }
        guard let state = states[id], state.dues.count > 100 + 3 * memberCount else { return }
        var known: Set<EntryID> = []
        states[id]?.dues.removeAll { dueAt, member in !isCurrent(member, dueAt) || !known.insert(member).inserted }
    }

    // MARK: Reports

    /// An incident has changed.
    ///
    /// - Returns: Whether that is to be reported soon, and is not already. One that opens now is reported at the end of the fact.
    mutating func touch(_ id: IncidentID) -> Bool {
        guard let state = states[id], !state.isDirty, !opened.contains(id) else { return false }
        states[id]?.isDirty = true
        return true
    }

    /// The time to report its changes has come.
    mutating func takeChanged(_ id: IncidentID) -> IncidentState? {
        guard states[id]?.isDirty == true else { return nil }
        states[id]?.isDirty = false
        return states[id]
    }

    /// Each of those that opened, once.
    mutating func takeOpened() -> [IncidentState] {
        defer { opened.removeAll() }
        return opened.compactMap { states[$0] }
    }

    // MARK: Out of attempts

    func isExhausted(_ id: IncidentID?) -> Bool { id.flatMap { states[$0] }?.isExhausted ?? false }

    /// - Returns: Whether this is new.
    mutating func exhaust(_ id: IncidentID?) -> Bool {
        guard let id, states[id]?.isExhausted == false else { return false }
        states[id]?.isExhausted = true
        return true
    }

    /// An origin answers: entries that wait for it have new attempts.
    mutating func originOpened(_ origin: Origin) {
        for scope in [origin.scheme == .parentProxy ? Incident.Scope.parentProxy(origin) : .origin(origin), .network] {
            if let id = idByTopic[Topic(kind: .outage, scope: scope)] { states[id]?.isExhausted = false }
        }
    }
}

extension Incident {
    /// An incident as people see it.
    ///
    /// - Parameter nextAttemptAt: When the first of its members goes by itself; nil when none does.
    init(_ state: Incidents.IncidentState, _ tally: IncidentTally, nextAttemptAt: Timestamp?) {
        self.init(
            id: state.id, kind: state.kind, scope: state.scope, since: state.since, cause: state.cause,
            waiting: tally.count, automaticLeft: tally.attemptsLeft, automaticMax: tally.attemptsMax,
            nextAttemptAt: nextAttemptAt, manualOnly: tally.isManualOnly, canRetry: state.kind == .outage || tally.hasRetryable)
    }
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

/// A small generator of random numbers, for names that need not be secret: the algorithm of Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators" (2014).
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
