/// The configuration was read anew, and an entry has found its route in it. Its target stays what it was.
struct NewRoute {
    let route: String?
    let policy: SharedPolicy
    let automaticLeft: Int?
    let parentProxyGate: Origin?
    let now: Timestamp

    func apply(to id: EntryID, _ set: inout PendingSet) {
        guard let entry = set.entries[id],
            entry.route != route || entry.policy != policy.policy || entry.parentProxyGate != parentProxyGate
        else { return }
        set.changeWay(of: entry, to: policy.policy, through: parentProxyGate, now: now)
        let isFreed = leavesWaitOfParentProxy(entry)
        set.change(id) { entry in
            if isFreed { entry.dueAt = now }
            entry.reroute(route, policy, automaticLeft: automaticLeft)
            entry.changeAttempt { $0.isRerouted = true }
        }
        guard let changed = set.entries[id] else { return }
        set.openBudget(for: changed)
        // While an attempt is under way only the end of `lifetime` may be watched: that comes sooner, too.
        let endsSooner = entry.attempt != nil && changed.lifetimeEnd < entry.lifetimeEnd
        if endsSooner || changed.expiresAt != entry.expiresAt { set.watchEnd(of: changed, now: now) }
        // One that waits for its time keeps it; whether it may be woken, and in which order it goes, is new.
        if entry.state == .waiting {
            // The pauses and the budget of another policy do not keep it.
            if let trigger = entry.eligibleBy {
                set.makeEligibleAgain(id, by: trigger)
            } else if isFreed || leavesUnreachableParentProxy(entry, set) {
                set.makeEligible(id, by: .reachability)
            } else if parentProxyGate != entry.parentProxyGate || changed.isWokenByOrigin != entry.isWokenByOrigin {
                set.place(id, now: now)
            }
            set.dispatchLater(entry.origin)
        }
        // The rule whether its lane waits for an undecided entry may be new, too.
        set.takeLanePlaceAgain(entry, now: now)
        set.touchIncident(of: id, now: now)
        // mutant: word-taken-back
        // The new policy may not allow a second sending.
        set.stopIfRisky(id, now: now)
    }

    /// Whether the entry waited for a parent proxy that it does not need any more: there is another way now.
    private func leavesUnreachableParentProxy(_ entry: Entry, _ set: PendingSet) -> Bool {
        entry.parentProxyGate != parentProxyGate && entry.lastFailure?.kind == .parentProxyUnreachable
            && set.entries[entry.id]?.isWokenByOrigin == true
    }

    /// Whether the entry waits until the time that a parent proxy asked for, and does not go through that parent proxy any more.
    private func leavesWaitOfParentProxy(_ entry: Entry) -> Bool {
        guard entry.parentProxyGate != parentProxyGate, let wait = entry.lastFailure?.retryAfter, let failedAt = entry.lastFailureAt
        else { return false }
        return entry.dueAt == failedAt + wait
    }
}

/// A reload during its attempt has left a request no automatic attempt, and its exchange judged the attempt by the old policy. The new
/// policy decides what follows, as if it had judged the attempt (`AttemptRules`). A ticket that has a part of its response is tried again.
struct ExhaustedByReload {
    /// The verdict by the old policy.
    let parking: Verdict.Parking
    let now: Timestamp

    func apply(to id: EntryID, _ set: inout PendingSet) {
        guard let entry = set.entries[id], entry.state == .waiting || entry.state == .held, entry.isExhausted(after: parking),
            entry.ticket == nil || entry.resume == nil
        else { return }
        // A client that has the beginning of its response is cut off, whatever the policy has for others.
        switch (parking.rule, entry.resume == nil ? entry.policy.onExhausted : .fail) {
        case (.outcomeUnknown, _):
            guard entry.policy.maybeAppliedRule(isTicket: entry.ticket != nil) == .ask else {
                set.amend(id) { $0.attempts.amendLast(.fail(.outcomeUnknown)) }
                return set.end(id, as: .failed, .maybeApplied, now: now)
            }
            let asking = Verdict.Parking(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .outcomeUnknown)
            set.amend(id) { $0.attempts.amendLast(.park(asking)) }
            set.ask(id, .maybeApplied, now: now)
        case (.aborted, _) where entry.resume == nil, (_, .ask):
            let rule: Verdict.ParkingRule = parking.rule == .aborted ? .aborted : .onExhausted
            let asking = Verdict.Parking(delay: .zero, shutsGate: parking.shutsGate, asks: .exhausted, rule: rule)
            set.amend(id) { $0.attempts.amendLast(.park(asking)) }
            // The end of an attempt by a person is no outage, but a question to a person is shown in one.
            set.changeIncident(of: id, after: asking, now: now)
            set.transition(id, to: .undecided(.exhausted), now: now)
            if parking.shutsGate { set.incidentExhausted(of: id, now: now) }
        case (_, .fail):
            set.amend(id) { $0.attempts.amendLast(.fail(.exhausted)) }
            set.end(id, as: .failed, .exhausted(nil), now: now)
        case (_, .standIn(let response)):
            set.amend(id) { $0.attempts.amendLast(.standIn(response)) }
            set.end(id, as: .failed, .exhausted(response), now: now)
        }
    }
}

/// A reload: the entries find their routes and policies in the new configuration, in portions, because there may be very many.
///
/// Rule: no entry starts an attempt under an old policy. An entry whose turn comes before its portion finds its route at
/// that moment (`PendingSet.mayGo`), so one that must not be sent twice any more is not sent. What becomes of an attempt under way is
/// decided by the policy that its entry has by then, or when its portion comes.
///
/// The last reload stays in the set when all portions are done: a request that was planned by an older table may still join.
struct Rerouting: Sendable {
    /// Number of the reload. An entry has the number of the reload in which its route was looked up last.
    let number: UInt8
    /// `RouteTable.number` of the configuration.
    let table: Int
    private let find: @Sendable (Entry) -> FoundRoute
    /// Entries that have their turn before the others.
    private var first: ArraySlice<EntryID>
    /// The entries that `first` began with: they have no second turn.
    private var early: Set<EntryID>
    /// How many of these entries are still among `ids`, behind `next`.
    private var earlyAheadCount: Int
    /// The entries that were there when the reload began, in the order of their arrival. Empty once all have had their turn.
    private var ids: [ArrivalOrder.Item]
    private var next = 0
    private var policies = SharedPolicies()

    init(
        number: UInt8, table: Int, first: [EntryID], _ ids: [ArrivalOrder.Item], find: @escaping @Sendable (Entry) -> FoundRoute
    ) {
        self.number = number
        self.table = table
        self.first = first[...]
        let early = Set(first)
        self.early = early
        earlyAheadCount = early.count
        self.ids = ids
        self.find = find
    }

    /// How many have yet to have their turn. Some of them may have ended since.
    var leftCount: Int { first.count + ids.count - next - earlyAheadCount }
    var isOver: Bool { leftCount == 0 }
    /// Whether those that have their turn before the others have not all had it.
    var isAtFirst: Bool { !first.isEmpty }

    mutating func takePortion(_ count: Int) -> [EntryID] {
        var portion = Array(first.prefix(count))
        first = first.dropFirst(count)
        while portion.count < count, next < ids.count {
            let id = ids[next].id
            next += 1
            if early.contains(id) { earlyAheadCount -= 1 } else { portion.append(id) }
        }
        if isOver { (first, early, earlyAheadCount, ids, next) = ([], [], 0, [], 0) }
        return portion
    }

    /// The route of an entry in the new configuration.
    mutating func route(of entry: Entry, now: Timestamp) -> NewRoute {
        let found = find(entry)
        let policy = entry.isRefresh ? found.policy.ofRefresh : found.policy
        let left = policy.automaticAttemptsMax.map { max(0, $0 - entry.counts.automatic) }
        return NewRoute(
            route: found.route, policy: policies.shared(policy), automaticLeft: left, parentProxyGate: found.parentProxyGate, now: now)
    }
}

extension Policy {
    /// For a request that brings the cache up to date. Without a client there is no decision to ask for, and no stand-in response to give.
    /// The refresh waits as long as a client would. The next client that reads the URL starts another refresh.
    package var ofRefresh: Policy {
        var policy = self
        policy.onExhausted = .fail
        return policy
    }
}
