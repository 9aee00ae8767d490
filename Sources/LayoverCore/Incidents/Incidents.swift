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
        fileprivate(set) var members: Set<EntryID> = []
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

    /// - Parameter since: When its outage began, where that is known to have been before now.
    /// - Returns: The incident of the new member.
    mutating func join(
        _ entry: Entry, _ topic: Topic, since: Timestamp?, now: Timestamp
    ) -> IncidentID {
        let id = idByTopic[topic] ?? IncidentID(using: &generator)
        if states[id] == nil {
            states[id] = IncidentState(id: id, kind: topic.kind, scope: topic.scope, since: since ?? now)
            idByTopic[topic] = id
            opened.append(id)
        }
        if let since, let known = states[id]?.since { states[id]?.since = min(known, since) }
        states[id]?.members.insert(entry.id)
        noteCause(entry.lastFailure, of: id)
        return id
    }

    /// The first failure of a member is the incident's cause.
    mutating func noteCause(_ failure: Failure?, of id: IncidentID?) {
        guard let id, let failure, states[id]?.cause == nil else { return }
        states[id]?.cause = Incident.Cause(kind: failure.kind, phase: failure.phase)
    }

    /// - Returns: The incident if it is over, and was reported before.
    mutating func leave(_ member: EntryID, _ id: IncidentID) -> IncidentState? {
        guard states[id]?.members.remove(member) != nil, let state = states[id], state.members.isEmpty else { return nil }
        states[id] = nil
        idByTopic[state.topic] = nil
        guard let index = opened.firstIndex(of: id) else { return state }
        opened.remove(at: index)
        return nil
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

    /// - Returns: The members, if this is new.
    mutating func exhaust(_ id: IncidentID?) -> Set<EntryID> {
        guard let id, let state = states[id], !state.isExhausted else { return [] }
        states[id]?.isExhausted = true
        return state.members
    }

    /// An origin answers: entries that wait for it have new attempts.
    mutating func originOpened(_ origin: Origin) {
        for scope in [origin.scheme == .parent ? Incident.Scope.parent(origin) : .origin(origin), .network] {
            if let id = idByTopic[Topic(kind: .outage, scope: scope)] { states[id]?.isExhausted = false }
        }
    }
}

extension Incident {
    /// An incident as people see it.
    ///
    /// - Parameter entry: A live entry, with what it waits for.
    init(_ state: Incidents.IncidentState, _ entry: (EntryID) -> Entry?) {
        self.init(
            id: state.id, kind: state.kind, scope: state.scope, since: state.since, cause: state.cause,
            waiting: state.members.count, automaticLeft: 0, automaticMax: 0, nextAttemptAt: nil, manualOnly: true,
            canRetry: state.kind == .outage)
        // The first that asks does so for all of that rule, so the fewest that one of them has left is what is left.
        var leftBeforeAsking: Int?
        for id in state.members {
            guard let entry = entry(id) else { continue }
            automaticMax = entry.policy.automaticAttemptsMax.flatMap { max in automaticMax.map { Swift.max($0, max) } }
            canRetry = canRetry || entry.actions.contains(.retry)
            guard entry.state == .waiting || entry.state == .attempting else { continue }
            manualOnly = false
            if let at = entry.nextAttemptAt { nextAttemptAt = min(nextAttemptAt ?? at, at) }
            if let left = entry.automaticLeft {
                if entry.policy.onExhausted == .ask {
                    leftBeforeAsking = min(leftBeforeAsking ?? left, left)
                } else {
                    automaticLeft = automaticLeft.map { max($0, left) }
                }
            } else {
                automaticLeft = nil
            }
        }
        if let leftBeforeAsking { automaticLeft = automaticLeft.map { max($0, leftBeforeAsking) } }
    }
}
