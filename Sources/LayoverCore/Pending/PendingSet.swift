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
///
/// The set says what each fact means; what follows for other entries is up to its `Schedule`.
package struct PendingSet: Sendable {
    package let limits: PendingLimits
    private let naming: EntryNaming
    var schedule: Schedule
    var admission: Admission

    /// - Parameter seed: Of the ids of incidents.
    package init(limits: PendingLimits = .init(), naming: EntryNaming = .plain, seed: UInt64 = 1) {
        self.limits = limits
        self.naming = naming
        admission = Admission(limits)
        schedule = Schedule(limits, seed: seed)
    }

    // MARK: Views

    var entries: EntryTable { schedule.entries }
    package var mode: ReachabilityMode { schedule.mode }
    /// Whether the store has refused a start record, so that tickets wait for it.
    package var isPausedByStore: Bool { schedule.pauses.storePauseEnd != nil }
    package var isBehindPortal: Bool { schedule.pauses.isBehindPortal }
    package var isDraining: Bool { schedule.isDraining }
    /// Entries in the set, in no order.
    package var liveEntries: some Collection<Entry> & Sendable { entries.values }
    /// Entries that came to their end and are still remembered, in no order.
    package var rememberedEntries: some Collection<Entry> & Sendable { schedule.history.all }
    package var idsInOrder: [EntryID] { entries.idsInOrder }
    package var count: Int { entries.count }
    package var heldCount: Int { entries.heldCount }
    /// Attempts that go on without a client.
    package var unattendedCount: Int { entries.unattendedCount }
    package func isLive(_ id: EntryID) -> Bool { entries[id] != nil }
    /// Whether it is a ticket that is on disk.
    package func isTicketAtRest(_ id: EntryID) -> Bool { entries[id].map { $0.ticket != nil && !$0.isBeingStored } ?? false }
    /// Whether it is about to become a ticket.
    package func isBeingStored(_ id: EntryID) -> Bool { entries[id]?.isBeingStored ?? false }
    /// When `advance(to:)` wants to be called next; nil while nothing is due.
    package var nextWakeAt: Timestamp? { schedule.timers.nextAt }
    package var shutOrigins: [Origin] { schedule.origins.shut }
    /// Origins on this machine to which something would go if they listened: for `ListenerWatch`.
    package var awaitedOnThisMachine: Set<Origin> { schedule.isAtRest ? [] : schedule.origins.awaitedOnThisMachine }
    package var originViews: [OriginView] { schedule.originViews }
    package var laneViews: [LaneView] { schedule.laneViews }
    package var incidentCount: Int { schedule.incidents.count }

    /// Whether the monitor says that the network as a whole is away. Only for what people are shown.
    package var isNetworkAway: Bool {
        get { schedule.isNetworkAway }
        set { schedule.isNetworkAway = newValue }
    }

    /// How many entries are in each live state.
    package var counts: [EntryState: Int] {
        let counted = entries.stateCounts
        return Dictionary(uniqueKeysWithValues: EntryState.live.map { ($0, counted[$0] ?? 0) })
    }

    /// Since when the request waits for a person that has done so longest; nil where none does.
    package var undecidedSince: Timestamp? {
        guard counts[.undecided] ?? 0 > 0 else { return nil }
        return entries.values.lazy.filter { $0.state == .undecided }.map { max($0.parkedAt, $0.lastFailureAt ?? $0.parkedAt) }.min()
    }

    /// The entry as it stands at a moment, live or remembered; nil if there is none.
    package func entry(_ id: EntryID, now: Timestamp) -> Entry? { schedule.entry(id, now: now) }

    /// Fills in what it waits for and when it goes.
    package func described(_ entry: Entry, now: Timestamp) -> Entry { schedule.described(entry, now: now) }

    /// What is to be kept of a ticket as it stands now, live or remembered; nil if it is none.
    package func record(of id: EntryID) -> TicketRecord? {
        guard let entry = entries[id] ?? schedule.history[id], let ticket = entry.ticket else { return nil }
        var record = TicketRecord(entry, ticket)
        record.excusedParents = schedule.dependencies.excusedParents(of: id)
        return record
    }

    /// The open incidents, oldest first.
    package func incidents(now: Timestamp) -> [Incident] {
        schedule.incidents.states.values.map { schedule.view(of: $0, now: now) }
            .sorted { ($0.since, $0.id.description) < ($1.since, $1.id.description) }
    }

    package func incident(_ id: IncidentID, now: Timestamp) -> Incident? {
        schedule.incidents[id].map { schedule.view(of: $0, now: now) }
    }

    /// A page of the list, of what is in memory.
    package mutating func page(of query: PendingQuery, now: Timestamp) -> PendingPage {
        let places = places(of: query, now: now)
        return query.page(of: places) { entry($0, now: now) }
    }

    /// The first places of the list, and one more if there is another page. In any other order than that of arrival, and where few
    /// match, all entries are looked at.
    package mutating func places(of query: PendingQuery, now: Timestamp) -> [ListedPlace] {
        let states = query.filter.states
        let hasFinal = states.contains(where: \.isFinal)
        if query.sort.field == .parkedAt, let limit = query.limit, limit > 0, !hasFinal, entries.isMatchedByMost(query.filter) {
            return schedule.entries.places(of: query, limit: limit, naming: naming)
        }
        let matcher = EntryMatcher(query.filter, naming)
        var selection = PageSelection(query, naming)
        if !states.allSatisfy(\.isFinal) {
            let (schedule, isByTime) = (schedule, query.sort.field == .nextAttemptAt)
            schedule.entries.forEach { entry in
                guard matcher.matches(entry) else { return }
                if isByTime { selection.add(schedule.described(entry, now: now)) } else { selection.add(entry) }
            }
        }
        if hasFinal {
            // The store lists those whose URL is cut here: by the whole URL they are found and sorted.
            schedule.history.forEach { if !$0.request.isURLInStore, matcher.matches($0) { selection.add($0) } }
        }
        return selection.places()
    }

    /// An honest guess of when it is worth while for the client of an entry to come back: the gate's next canary, or the end of the
    /// pause that its origin asked for.
    package func retryAfter(for entry: Entry, now: Timestamp) -> Duration? {
        if let gate = entry.parentProxyGate, let at = schedule.origins.canaryAt(gate) { return max(.seconds(1), at - now) }
        guard let state = schedule.origins.states[entry.origin] else { return nil }
        let pauseEnd = state.pacings[entry.policy.name]?.pause?.end
        guard let at = state.gate.isShut ? state.gate.canaryAt : pauseEnd else { return nil }
        return max(.seconds(1), at - now)
    }

    // MARK: Working on a fact

    /// Runs one fact and hands out what is to be done.
    mutating func gather(now: Timestamp, _ work: (inout Self) -> Void) -> [PendingAction] {
        work(&self)
        return schedule.finishFact(now: now)
    }

    /// Does what is due.
    package mutating func advance(to now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.advance(to: now) }
    }

    // MARK: Facts about the world

    /// A request that is not in the set got a response from an origin that has entries or a shut gate.
    package mutating func originAnswered(_ origin: Origin, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            if set.schedule.origins.isKnown(origin) { set.schedule.originOpened(origin, now: now) }
        }
    }

    /// An origin wants to be left alone by the requests of a policy: a response says so that is delivered.
    package mutating func originPaused(_ origin: Origin, for policy: Policy, _ wait: Duration, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.pause(origin, for: policy, wait, now: now) }
    }

    /// Fresh attempts to a watched origin began or ended: they count in its window, and never wait for it.
    package mutating func freshUnderWay(
        _ origin: Origin, changedBy difference: Int, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.schedule.origins.isKnown(origin) else { return }
            set.schedule.origins[origin].freshChanged(by: difference)
            set.schedule.toDispatch.insert(origin)
        }
    }

    /// Something says that ways may be open which were not: the network changed, or an admin said so.
    package mutating func reachable(now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.wakeAll(now: now) }
    }

    /// Something says that an origin may be back: its canary need not wait any longer. It is the one that would go first if all could,
    /// not the one that would be due first.
    package mutating func originMayBeReachable(_ origin: Origin, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.schedule.origins.isShut(origin) else { return }
            set.schedule.origins[origin].gate.mayBeReachable(now: now)
            // Behind a parent proxy each origin has its own order.
            if origin.scheme != .parentProxy { set.schedule.wakeWaiting(for: origin) }
            set.schedule.toDispatch.insert(origin)
        }
    }

    /// A captive portal began or ceased to answer for every origin.
    package mutating func portalChanged(isBehindPortal: Bool, now: Timestamp) -> [PendingAction] {
        guard isBehindPortal != self.isBehindPortal else { return [] }
        return gather(now: now) { set in
            if isBehindPortal { set.schedule.pauses.portalCame() } else { set.schedule.portalLeft() }
        }
    }

    /// The store did not take the start record of an attempt.
    package mutating func storeRefused(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in set.schedule.timers.add(.store, at: set.schedule.pauses.storeRefused(now: now)) }
    }

    /// The store took something.
    package mutating func storeRecovered(now: Timestamp) -> [PendingAction] {
        guard schedule.pauses.storePauseEnd != nil else { return [] }
        return gather(now: now) { $0.schedule.storeRecovered() }
    }

    /// An admin changed the mode. In mode `offline` attempts that have sent nothing wait, too.
    ///
    /// - Parameter cuts: Whether all attempts under way are aborted, whatever they have sent.
    package mutating func modeChanged(to mode: ReachabilityMode, cuts: Bool = false, now: Timestamp) -> [PendingAction] {
        guard mode != self.mode || cuts else { return [] }
        schedule.mode = mode
        guard mode == .offline else { return reachable(now: now) }
        return gather(now: now) { set in
            set.schedule.lookForStrays()
            for id in set.entries.idsInOrder where set.entries[id]?.state == .attempting {
                if cuts { set.schedule.actions.append(.abortAttempt(id, isCommanded: true)) } else { set.schedule.abandonAttempt(of: id) }
            }
        }
    }

    /// The proxy is being stopped: nothing is parked any more, and what waits ends.
    package mutating func drained(now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            set.schedule.isDraining = true
            for id in set.idsInOrder {
                // A ticket goes on after the next start.
                if set.entries[id]?.ticket == nil { set.schedule.endOrOfferTicket(id, now: now) }
            }
            // The loops stop too: what becomes of origins does not matter to them any more.
            set.schedule.toAnnounce = []
        }
    }

    /// The configuration was read anew, and an entry has found its route in it. Its target stays what it was.
    ///
    /// - Parameter isUnderWay: True if the attempt has begun, through the old parent proxy. False: it will use the new one.
    package mutating func rerouted(
        _ id: EntryID, route: String?, policy: Policy, automaticLeft: Int?, parentProxyGate: Origin? = nil, isUnderWay: Bool = true,
        now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            NewRoute(
                route: route, policy: set.admission.shared(policy), automaticLeft: automaticLeft, parentProxyGate: parentProxyGate, now: now
            ).apply(to: id, &set.schedule)
            if !isUnderWay { set.schedule.attemptGoes(id, through: parentProxyGate) }
        }
    }

    /// A reload has new routes. `rerouteSome` looks up the route of each ticket, in portions, and is called until `isRerouting` is false.
    /// The route of a ticket whose turn comes before is looked up at that moment.
    ///
    /// - Parameter find: Finds the route of a ticket in the new configuration. It must depend on nothing else.
    package mutating func reloaded(_ find: @escaping @Sendable (TicketRecord) -> TicketRoute) { schedule.reloaded(find) }

    package var isRerouting: Bool { schedule.rerouting != nil }

    package mutating func rerouteSome(_ count: Int, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.rerouteSome(count, now: now) }
    }

    /// The attempt that has begun goes through another parent proxy than was known when it was decided.
    package mutating func attemptGoes(_ id: EntryID, through gate: Origin?) { schedule.attemptGoes(id, through: gate) }
}
