/// What the engine and people read of the pending set and ask of it, and the rules of tickets and reloads. What happens to entries, origins
/// and the network is a `PendingFact`.
extension PendingSet {
    // MARK: Counts

    /// Whether the store has refused a start record, so that tickets wait for it.
    package var isPausedByStore: Bool { pauses.storePauseEnd != nil }
    package var isBehindPortal: Bool { pauses.isBehindPortal }
    /// Entries in the set, in no order.
    package var liveEntries: some Collection<Entry> & Sendable { entries.values }
    /// Entries that came to their end and are still remembered, in no order.
    package var rememberedEntries: some Collection<Entry> & Sendable { history.all }
    package var idsInOrder: [EntryID] { entries.idsInOrder }
    package var count: Int { entries.count }
    package var heldCount: Int { entries.heldCount }
    /// Attempts that go on without a client.
    package var unattendedCount: Int { entries.unattendedCount }
    package func isLive(_ id: EntryID) -> Bool { entries[id] != nil }
    /// Whether it is a ticket that is on disk.
    package func isStoredOnly(_ id: EntryID) -> Bool { entries[id].map { $0.ticket != nil && !$0.isBeingStored } ?? false }
    /// Whether it is about to become a ticket.
    package func isBeingStored(_ id: EntryID) -> Bool { entries[id]?.isBeingStored ?? false }
    /// Whether `limits.entries` allows no further entry.
    // mutant: over-the-limit
    var isFull: Bool { waitingCount + admission.acceptingCount >= limits.entryCountMax }

    /// Entries that are in the set for more than the outcome of an attempt.
    var waitingCount: Int { entries.count - entries.unattendedCount }
    /// When `TimePassed` wants to be called next; nil while nothing is due.
    package var nextWakeAt: Timestamp? { timers.nextAt }
    package var shutOrigins: [Origin] { origins.shut }
    /// Origins on this machine to which something would go if they listened: for `ListenerWatch`.
    package var awaitedOnThisMachine: Set<Origin> { isPaused ? [] : origins.awaitedOnThisMachine }
    package var incidentCount: Int { incidents.count }

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

    // MARK: Entries

    /// The entry as it stands at a moment, live or remembered. Nil: there is none.
    package func entry(_ id: EntryID, now: Timestamp) -> Entry? {
        guard let entry = entries[id] else { return history[id] }
        return described(entry, now: now)
    }

    /// Fills in what depends on others: what it waits for and when it goes.
    package func described(_ entry: Entry, now: Timestamp) -> Entry {
        var shown = entry
        shown.outlook = Outlook.of(entry, in: self, now: now)
        return shown
    }

    /// An honest guess of when it is worth while for the client of an entry to come back: the gate's next canary, or the end of the
    /// pause that its origin asked for.
    package func retryAfter(for entry: Entry, now: Timestamp) -> Duration? {
        if let gate = entry.parentProxyGate, let at = origins.canaryAt(gate) { return max(.seconds(1), at - now) }
        guard let state = origins.states[entry.origin] else { return nil }
        guard let at = state.gate.isShut ? state.gate.canaryAt : state.lastPauseEnd(of: entry) else { return nil }
        return max(.seconds(1), at - now)
    }

    // MARK: Lists

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
            return entries.places(of: query, limit: limit, naming: naming)
        }
        let matcher = EntryMatcher(query.filter, naming)
        var selection = PageSelection(query, naming)
        if !states.allSatisfy(\.isFinal) {
            let (set, isByTime) = (self, query.sort.field == .nextAttemptAt)
            entries.forEach { entry in
                guard matcher.matches(entry) else { return }
                if isByTime { selection.add(set.described(entry, now: now)) } else { selection.add(entry) }
            }
        }
        if hasFinal {
            // The store lists those whose URL is cut here: by the whole URL they are found and sorted.
            history.forEach { if !$0.request.isURLInStore, matcher.matches($0) { selection.add($0) } }
        }
        return selection.places()
    }

    /// The lanes that have live entries, in the order of their names.
    package var laneViews: [LaneView] {
        lanes.states.map { lane, state in LaneView(lane, state, first: lanes.first(of: lane).flatMap { entries[$0] }) }
            .sorted { ($0.name, $0.count) < ($1.name, $1.count) }
    }

    /// The origins that entries wait for, or whose gate is not open, in the order of their names.
    package var originViews: [OriginView] { origins.inOrder.map { OriginView($0, origins[$0]) } }

    // MARK: Incidents

    /// The open incidents, oldest first.
    package func incidents(now: Timestamp) -> [Incident] {
        incidents.states.values.map { view(of: $0, now: now) }
            .sorted { ($0.since, $0.id.description) < ($1.since, $1.id.description) }
    }

    package func incident(_ id: IncidentID, now: Timestamp) -> Incident? {
        incidents[id].map { view(of: $0, now: now) }
    }

    func view(of incident: Incidents.IncidentState, now: Timestamp) -> Incident {
        let tally = entries.incidentTallies[incident.id] ?? IncidentTally()
        return Incident(incident, tally, nextAttemptAt: nextAttempt(in: incident, tally, now: now))
    }

    /// The members of an incident, in the order of their arrival.
    func members(of id: IncidentID) -> [EntryID] {
        entries.inOrder(Set((incidents[id]?.joined ?? []).filter { entries.isMember($0, of: id) }))
    }

    /// Most members of which it is looked at when they go. Default: 16.
    private static let dueTriesMax = 16

    /// When the first member of an incident goes by itself; nil when none does.
    private func nextAttempt(in incident: Incidents.IncidentState, _ tally: IncidentTally, now: Timestamp) -> Timestamp? {
        guard mode != .offline, !tally.isManualOnly else { return nil }
        let isCurrent = entries.isDue(in: incident.id)
        var dues = incident.dues
        var (due, tries): (Timestamp?, Int) = (nil, 0)
        // The first may be put aside without an end in sight, for a portal or for want of budget; of very many a few are looked at.
        while due == nil, tries < Self.dueTriesMax, let first = dues.first {
            if isCurrent(first.value, first.key), let entry = entries[first.value] {
                due = Outlook.wait(of: entry, in: self, now: now).1
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

    // MARK: Tickets

    /// What is to be kept of a ticket as it stands now, live or remembered; nil if it is none.
    package func record(of id: EntryID) -> TicketRecord? {
        guard let entry = entries[id] ?? history[id], let ticket = entry.ticket else { return nil }
        var record = TicketRecord(entry, ticket)
        record.excusedParents = dependencies.excusedParents(of: id)
        return record
    }

    /// Whether one of these tickets is known to have ended without being delivered.
    package func hasUndelivered(among ids: [EntryID]) -> Bool {
        ids.contains { (entries[$0] ?? history[$0]).map { $0.state.isFinal && $0.state != .delivered } ?? false }
    }

    /// Asks for room for a ticket. What is granted is taken by `NewTicketStored` or given back by `admissionDecided`.
    ///
    /// - Returns: The sequence of the new ticket, or the limit that forbids it.
    package mutating func admitTicket() -> TicketAdmission {
        if isDraining { return .draining }
        if isFull { return .refused(limit: "limits.entries", value: limits.entryCountMax) }
        return .admitted(sequence: admission.admitTicket())
    }

    /// A request that is about to join.
    ///
    /// - Parameter sequence: That of a ticket that was admitted; nil: the next one.
    mutating func entry(of new: NewEntry, sequence: Int? = nil, now: Timestamp) -> Entry {
        let sequence = sequence ?? admission.nextSequence()
        return admission.entry(new, sequence: sequence, now: now)
    }

    /// So many tickets of an earlier run are about to join.
    mutating func makeRoom(for count: Int) { entries.reserveCapacity(entries.count + count) }

    /// A ticket of an earlier run that is about to join.
    mutating func entry(of record: TicketRecord, _ policy: Policy) -> Entry {
        admission.skipSequences(to: record.sequence)
        return Entry(record, policy: admission.shared(policy))
    }

    /// An admitted ticket is on disk, could not be stored, or was there before.
    package mutating func admissionDecided() { admission.decided() }

    /// An entry whose client waits on its connection is to become a ticket. Nothing is done with it until that is
    /// on disk; an attempt under way goes on.
    ///
    /// - Parameter counts: Those of its exchange, the attempt under way included; nil: there is none.
    /// - Returns: The record to store; nil if the entry is gone, or is one already.
    package mutating func willStore(
        _ id: EntryID, as ticket: TicketFacts, counts: AttemptCounts? = nil, now: Timestamp
    ) -> TicketRecord? {
        guard let entry = entries[id], entry.ticket == nil else { return nil }
        becameAttended(id, now: now)
        entries[id]?.ticket = ticket
        entries[id]?.owner = .clientUntilStored
        if entry.state == .waiting { block(id, isAskedFor: entry.eligibleBy == .admin) }
        // Whether they were all delivered is looked at when it is on disk.
        _ = joinParents(id)
        var record = record(of: id)
        record?.expiresAt = entry.ticketDeadline
        if let counts { record?.counts = counts }
        return record
    }

    /// An entry could not be stored as a ticket: its client goes on holding it.
    mutating func notStored(_ id: EntryID, now: Timestamp) {
        guard isBeingStored(id) else { return }
        entries[id]?.ticket = nil
        dependencies.remove(id)
        staysWithClient(id, now: now)
    }

    /// The client of an entry has left, and the entry cannot go on without it. It ends with the attempt under way, or at once.
    package mutating func notAdopted(_ id: EntryID, _ obstacle: AdoptionObstacle) {
        entries[id]?.adoptionObstacle = obstacle
        if case .client = entries[id]?.owner { entries[id]?.owner = .client(.none) }
    }

    /// What the attempt of an entry proved that has ended meanwhile. It changes nothing but what is known: the state
    /// stays, and no other entry moves.
    ///
    /// - Parameters:
    ///   - failure: Nil where the attempt was answered.
    ///   - tally: The attempts of the exchange, with the one that was cut off: when the entry ended, that was not counted.
    package mutating func recorded(_ failure: Failure?, _ tally: AttemptTally, of id: EntryID, now: Timestamp) {
        history.change(id) { $0.addLateEvidence(failure, tally, at: now) }
    }

    /// The end of a ticket is on disk: its row has the URL, and memory needs only the beginning of it.
    package mutating func urlIsStored(of id: EntryID) { history.urlIsStored(of: id) }

    /// Whether `urlIsStored(of:)` cuts that URL.
    package static func cutsURL(_ url: String) -> Bool { url.utf8.count > EntryHistory.ticketURLByteCountMax }

    /// Sequences up to this one were used in an earlier run.
    package mutating func skipSequences(to last: Int) { admission.skipSequences(to: last) }

    // MARK: Reloads

    /// A reload has new routes. `rerouteSome` looks up the route of each entry, in portions, and is called until `isRerouting` is false.
    /// The route of an entry whose turn comes before is looked up at that moment, and so is that of one that joins with an older table.
    ///
    /// - Parameters:
    ///   - table: `RouteTable.number` of the new configuration.
    ///   - first: Entries that have their turn before the others, each once. To find them here would take a look at each of very many.
    ///   - portion: How many have their turn now.
    ///   - find: Finds the route of an entry, and its parent proxy, in the new configuration. It must depend on nothing else.
    package mutating func reloaded(
        as table: Int, first: [EntryID] = [], portion: Int, now: Timestamp, _ find: @escaping @Sendable (Entry) -> FoundRoute
    ) -> [PendingAction] {
        // One byte keeps an entry small. An entry that missed 255 reloads in a row, each cut off by the next, would count as rerouted.
        reloadCount = reloadCount == .max ? 1 : reloadCount + 1
        rerouting = Rerouting(number: reloadCount, table: table, first: entries.inOrder(first), entries.inOrder(), find: find)
        return rerouteSome(portion, now: now)
    }

    package var isRerouting: Bool { rerouting?.isOver == false }
    /// Whether entries that have their turn before the others have not had it yet.
    package var isReroutingFirst: Bool { rerouting?.isAtFirst == true }
    /// At most how many entries have yet to find their routes after the newest reload.
    package var rerouteCount: Int { rerouting?.leftCount ?? 0 }

    package mutating func rerouteSome(_ count: Int, now: Timestamp) -> [PendingAction] {
        for id in rerouting?.takePortion(count) ?? [] { rerouteIfStale(id, now: now) }
        return finishFact(now: now)
    }

    /// Looks up the route of an entry in the present configuration, once for each reload, and tells its exchange. An unattended entry keeps
    /// its route, because no attempt follows.
    mutating func rerouteIfStale(_ id: EntryID, now: Timestamp) {
        guard let number = rerouting?.number, entries.show(id, { $0.reloadNumber != number && !$0.isUnattended }) == true,
            let entry = entries[id], let found = rerouting?.route(of: entry, now: now)
        else { return }
        entries[id]?.reloadNumber = number
        found.apply(to: id, &self)
        // Also if route and policy stay: the fields that the route sets may be others.
        actions.append(.reroute(id))
    }

    /// Does the same for a request that has just joined. Its loop may have planned it by an older table.
    mutating func rerouteIfStale(_ new: NewEntry, now: Timestamp) {
        if isPlannedByOlderTable(new) { return rerouteIfStale(new.id, now: now) }
        if let rerouting { entries[new.id]?.reloadNumber = rerouting.number }
    }

    /// Whether a request was planned by an older table than that of the newest reload.
    func isPlannedByOlderTable(_ new: NewEntry) -> Bool { rerouting.map { new.routesNumber < $0.table } ?? false }

    /// Why a response in hand is delivered: its request was planned by an older table, and may not be sent once more by the newest one.
    mutating func deliverReasonSinceReload(_ entry: Entry, _ new: NewEntry, now: Timestamp) -> Verdict.DeliverReason? {
        guard isPlannedByOlderTable(new), let found = rerouting?.route(of: entry, now: now) else { return nil }
        var entry = entry
        entry.sharedPolicy = found.policy
        entry.automaticLeft = found.automaticLeft
        return entry.deliverReason(after: new.parking)
    }

    /// What may not be sent twice any more, because a policy does not allow it any more, stops where it is: RFC 9110
    /// section 9.2.2.
    ///
    /// A ticket asks a person, a request that a client holds does as its policy says. An attempt under way goes on: what
    /// follows it is decided by the policy as it is then.
    mutating func stopIfRisky(_ id: EntryID, now: Timestamp) {
        guard entries.show(id, { $0.isRisky }) == true, let entry = entries[id], entry.state != .attempting, entry.why != .maybeApplied
        else { return }
        if entry.ticket != nil || entry.policy.maybeAppliedRule() == .ask { return ask(id, .maybeApplied, now: now) }
        end(id, as: .failed, .maybeApplied, now: now)
    }

    // MARK: Commands

    private func missing(_ id: EntryID) -> EntryCommandResult { history[id] == nil ? .unknown : .conflict }

    /// A person steers one entry.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - acknowledgement: `EntryCommand.duplicateRisk` for `force`; others need none.
    ///   - outcome: What is known of the outcome, for `settle`.
    package mutating func commanded(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, outcome: Settlement.Outcome = .init(), now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard entry.actions.contains(command) else { return (.conflict, []) }
        // mutant: no-acknowledgement
        if command == .force, acknowledgement != EntryCommand.duplicateRisk { return (.unacknowledged, []) }
        command.apply(to: entry, by: author, reason: reason, outcome: outcome, &self, now: now)
        return (.done, finishFact(now: now))
    }

    /// A person steers several entries, in the order given.
    ///
    /// Several entries are cancelled as one fact. Otherwise each cancelled entry would make room for the next one of the list, whose
    /// attempt would start only to be cut off.
    package mutating func commanded(
        _ command: EntryCommand, each ids: some Collection<EntryID>, by author: CommandAuthor = .loopback, reason: String? = nil,
        now: Timestamp
    ) -> ([EntryCommandResult], [PendingAction]) {
        guard command == .cancel else {
            let done = ids.map { commanded(command, $0, by: author, reason: reason, now: now) }
            return (done.map(\.0), done.flatMap(\.1))
        }
        var results: [EntryCommandResult] = []
        for id in ids {
            let entry = entries[id]
            results.append(entry == nil ? missing(id) : .done)
            if let entry { command.apply(to: entry, by: author, reason: reason, &self, now: now) }
        }
        return (results, finishFact(now: now))
    }

    /// A person retries or gives up everything that waits in an incident.
    package mutating func commanded(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil,
        now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let incident = incidents[id] else { return (.unknown, []) }
        guard view(of: incident, now: now).actions.contains(command) else { return (.conflict, []) }
        let members = members(of: id)
        return (.done, commanded(command, each: members, by: author, reason: reason, now: now).1)
    }

    /// A person changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: The revision the caller saw; nil when any will do.
    package mutating func patched(
        _ id: EntryID, _ patch: EntryPatch, revision: Int? = nil, now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard patch.fits(entry) else { return (.conflict, []) }
        patch.apply(to: entry, &self, now: now)
        return (.done, finishFact(now: now))
    }
}
