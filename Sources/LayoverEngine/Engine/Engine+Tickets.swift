package import LayoverCore
import Logging
import NIOCore

/// Tickets as their clients reach them, and as they come back after a restart.
extension Engine {
    // MARK: Calls of clients

    /// A ticket as it stands now; nil if there is none. Its times are those of this boot.
    package func ticket(_ id: EntryID) async throws(StoreFailure) -> TicketStanding? {
        if var standing = rememberedTicket(id) {
            // Addresses in its response are relative to the whole URL.
            if standing.record.request.isURLInStore, let stored = try await store?.record(of: id) {
                standing.record.request = stored.shifted(by: -ticketClock).request
            }
            return standing
        }
        guard let record = try await store?.record(of: id) else { return nil }
        return TicketStanding(record: record.shifted(by: -ticketClock))
    }

    /// A ticket that is live, or one of the newest that ended; of a long URL only its beginning (`isURLInStore`).
    func rememberedTicket(_ id: EntryID) -> TicketStanding? {
        guard let entry = pending.entry(id, now: clock.now()), let record = pending.record(of: id) else { return nil }
        return TicketStanding(record: record, waitingFor: entry.waitingFor, nextAttemptAt: entry.nextAttemptAt)
    }

    /// The client of a ticket cancels it, or drops its response.
    ///
    /// - Throws: If the store cannot be read, so that it is unknown whether there is such a ticket.
    package func dropTicket(_ id: EntryID) async throws(StoreFailure) -> TicketDrop {
        guard let standing = try await ticket(id) else { return .unknown }
        let isCancelled = !standing.record.state.isFinal && apply(.cancel, id, by: .client) == .done
        if !isCancelled { save([(id, .dropResponse(id))]) }
        return await waitUntilSaved(id) ? .dropped : .unsaved(savingFailure)
    }

    /// A response that came after the end of its entry. The store removes its file, because the row is final.
    func discard(_ response: StoredResponse, of id: EntryID) {
        saves.responses[id] = nil
        guard let record = pending.record(of: id), record.state.isFinal else { return }
        save([(id, .delivered(record.shifted(by: ticketClock), response))])
    }

    // MARK: Replays

    /// Has one of the loops make an attempt of a ticket.
    func replay(_ id: EntryID, _ trigger: AttemptTrigger) {
        guard let entry = pending.entry(id, now: clock.now()), let ticket = entry.ticket,
            entry.state == .attempting, !loops.isEmpty
        else { return }
        if entry.resume != nil, let exchange = exchanges[id] { return exchange.start(trigger, isForced: entry.isForced) }
        nextLoop = (nextLoop + 1) % loops.count
        exchanges[id] = loops[nextLoop].replay(
            TicketReplay(
                request: entry.request, ticket: ticket, trigger: trigger, policy: entry.policy, route: entry.route,
                parentProxyGate: entry.parentProxyGate, counts: entry.counts, isForced: entry.isForced,
                skipsPreflight: trigger == .admin && entry.attempts.records.last?.verdict == .fail(.preflight)))
    }

    // MARK: Start

    /// Restores the tickets of an earlier run. After the loops are registered, before the first connection.
    ///
    /// Blocks until all of it is read.
    package func restore(from store: any PendingStore, bootID: String, routes: RouteTable) throws(StoreFailure) {
        let now = clock.now()
        let proposal = clock.wallNanoseconds(of: now) &- now.nanoseconds
        ticketClock = try store.clock(bootID: bootID, proposal: proposal, now: now)
        self.routes = routes
        pending.skipSequences(to: try store.lastSequence())
        pending.restoringBegan()
        // Tickets with parents come last, all together: the states of the parents are known then.
        var dependent: [TicketRecord] = []
        try store.readLive { portion in
            // Most portions have none, and to copy them takes time.
            guard portion.contains(where: { !$0.parents.isEmpty }) else { return restoreTickets(portion, ended: [:]) }
            dependent += portion.filter { !$0.parents.isEmpty }
            restoreTickets(portion.filter { $0.parents.isEmpty }, ended: [:])
        }
        let unknown = Set(dependent.flatMap(\.parents)).subtracting(dependent.map(\.id))
            .filter { !pending.isLive($0) }
        restoreTickets(dependent, ended: unknown.isEmpty ? [:] : try store.endStates(of: Array(unknown)))
        restored(count: pending.count)
    }

    /// Restores the tickets of an earlier run from a store that could not be opened at the start. Until then requests
    /// were held, but none was accepted.
    ///
    /// Blocks until all of it is read, and has all of it in memory twice until then: after a failed read nothing of
    /// it may be left in the pending set.
    ///
    /// - Returns: False if the proxy is already being stopped.
    package func restore(
        from store: any PendingStore, replacing standIn: UnavailableStore, bootID: String
    ) throws(StoreFailure) -> Bool {
        guard !pending.isDraining else { return false }
        let now = clock.now()
        let known = try store.clock(
            bootID: bootID, proposal: clock.wallNanoseconds(of: now) &- now.nanoseconds, now: now)
        let sequence = try store.lastSequence()
        var records: [TicketRecord] = []
        try store.readLive { records += $0 }
        let unknown = Set(records.flatMap(\.parents)).subtracting(records.map(\.id))
        let ended = unknown.isEmpty ? [:] : try store.endStates(of: Array(unknown))
        guard standIn.opened(store) else { return false }
        ticketClock = known
        pending.skipSequences(to: sequence)
        pending.restoringBegan()
        restoreTickets(records, ended: ended)
        restored(count: records.count)
        return true
    }

    private func restored(count: Int) {
        if count > 0 { logger.info("resumed tickets of an earlier run", metadata: ["tickets": "\(count)"]) }
        handle(RestoringEnded())
    }

    private func restoreTickets(_ records: [TicketRecord], ended: [EntryID: EntryState]) {
        let now = clock.now()
        let shift = -ticketClock
        let known = records.indices.map { index in
            var record = records[index].shifted(by: shift)
            let standing = routes.standing(of: record)
            record.route = standing.route
            // A wall clock that was set back while the machine was off must not make a ticket wait longer than its delay.
            let delay = record.standing.dueAt - (record.standing.lastFailureAt ?? record.standing.parkedAt)
            record.standing.dueAt = min(record.standing.dueAt, now + delay)
            return (record: record, policy: standing.policy)
        }
        var parentProxyGates: [EntryID: Origin] = [:]
        if routes.hasParentProxies {
            for (record, _) in known { parentProxyGates[record.id] = routes.parentProxy(for: record.origin, route: record.route)?.gate }
        }
        take(TicketsRestored(known, ended: ended, parentProxyGates: parentProxyGates), now: now)
    }

    /// Tickets that find their routes before other facts are worked on. Default: 200, which takes about 20 ms in a debug build.
    package static let reroutePortion = 200

    /// Looks up the routes of tickets after a reload: those of the first portion before this returns, the others later.
    package func adopt(_ routes: RouteTable) {
        self.routes = routes
        isReloaded = true
        pending.reloaded { record in
            let (route, policy) = routes.standing(of: record)
            return TicketRoute(route: route, policy: policy, parentProxyGate: routes.parentProxy(for: record.origin, route: route)?.gate)
        }
        rerouteSome()
    }

    private func rerouteSome() {
        run { now in perform(pending.rerouteSome(reroutePortion, now: now)) }
        // One chain of portions is enough, whatever reload it is for.
        guard pending.isRerouting, !isNextPortionDue else { return }
        isNextPortionDue = true
        let next: @Sendable () -> Void = { [weak self] in
            self?.assumeIsolated {
                $0.isNextPortionDue = false
                $0.rerouteSome()
            }
        }
        // Facts that have come meanwhile are worked on first, and the store has committed this portion: behind the changes of
        // all tickets a new ticket would wait for seconds.
        guard let store else { return eventLoop.execute(next) }
        store.commit([]) { [eventLoop] _ in eventLoop.execute(next) }
    }

    private func reroute(_ id: EntryID) {
        guard let record = pending.record(of: id) else { return }
        let (route, policy) = routes.standing(of: record)
        let left = policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) }
        let gate = routes.parentProxy(for: record.origin, route: route)?.gate
        take(EntryRerouted(id, route: route, policy: policy, automaticLeft: left, parentProxyGate: gate), now: clock.now())
    }

    /// A reload may have come while a ticket was on its way to the disk.
    func rerouteIfReloaded(_ id: EntryID) {
        if isReloaded { reroute(id) }
    }
}

/// What comes of dropping a ticket.
package enum TicketDrop: Sendable, Hashable {
    /// It is cancelled, or its response is gone, and that is on disk.
    case dropped
    /// The same in memory, but a crash would undo it. Saving is repeated until it succeeds.
    case unsaved(StoreFailure)
    /// There is no such ticket.
    case unknown
}

/// A ticket as its client sees it.
package struct TicketStanding: Sendable, Hashable {
    package var record: TicketRecord
    package var waitingFor: WaitReason?
    package var nextAttemptAt: Timestamp?
}
