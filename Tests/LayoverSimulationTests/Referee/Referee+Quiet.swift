@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy

/// When no word is in flight between the engine and the loops, and nothing is due.
extension Referee {
    func checkQuiet() {
        guard simulation.breaches.isEmpty else { return }
        let (pending, exchanges) = simulation.engine.assumeIsolated { ($0.pending, $0.exchanges) }
        pending.entries.forEach { entry in
            holdMaxIsKept(entry)
            lifetimeIsKept(entry)
            engineAndLoopsAgree(entry, exchanges[entry.id])
            noUnrepeatableSentRequestWaits(entry)
        }
        for truth in simulation.told { nothingAcceptedIsLost(truth, pending) }
        cancelledAttemptsStop()
        attemptsWithoutAClientHaveAnOwner(pending)
        closedSocketsAreNoticed()
        standingConnectionsOpenGates(pending)
        waitingClientsAreKnown()
    }

    private func holdMaxIsKept(_ entry: Entry) {
        guard entry.state != .attempting, entry.ticket == nil else { return }
        // Progress of a response counts as the end of the wait.
        let movedAt = entry.resume == nil ? nil : simulation.truth(of: entry)?.download.movedAt
        let since = max(entry.parkedAt, movedAt ?? entry.parkedAt)
        let waited = simulation.time.now() - since
        if waited > entry.policy.holdMax {
            breach("holdMaxIsKept", "\(name(entry)) has waited \(waited)")
        }
        // The entry does not get less time either.
        if entry.isHeldByClient, entry.expiresAt < min(since + entry.policy.holdMax, entry.parkedAt + entry.policy.lifetime) {
            breach("holdMaxIsKept", "\(name(entry)) waits since \(waited), and is to end in \(entry.expiresAt - simulation.time.now())")
        }
    }

    /// No attempt hangs for longer than its entry may live, unless its response has begun.
    private func lifetimeIsKept(_ entry: Entry) {
        guard let attempt = entry.attempt, !attempt.isAnswered else { return }
        // A client that is gone waits for nothing.
        let isForNobody = entry.ticket == nil && entry.isHeldByClient && !entry.client.isConnected
        let end = isForNobody ? entry.expiresAt : max(entry.expiresAt, entry.parkedAt + entry.policy.lifetime)
        if simulation.time.now() > end {
            breach("lifetimeIsKept", "\(name(entry)) is attempted \(simulation.time.now() - end) after its end")
        }
    }

    /// A request that was sent and may not be sent twice by the current configuration is never sent automatically.
    private func noUnrepeatableSentRequestWaits(_ entry: Entry) {
        guard entry.state == .waiting || entry.state == .held, let truth = simulation.truth(of: entry),
            !truth.sendings.isEmpty, truth.forceCount == 0, !truth.isRepeatable(in: simulation.configuration.routes)
        else { return }
        breach("noUnrepeatableSentRequestWaits", "\(name(entry)) \(truth.method), sent by \(truth.sendings)")
    }

    private func engineAndLoopsAgree(_ entry: Entry, _ exchange: (any HeldExchange)?) {
        // Once it is to be a ticket, its recipient changes.
        guard let exchange = exchange as? Exchange, entry.ticket == nil, exchange.client != nil else { return }
        if entry.state != .attempting, exchange.client?.connection?.context == nil {
            breach("entryOfALeftClientIsNotParked", name(entry))
        }
        if exchange.entry != entry.id {
            return breach("engineAndLoopsAgree", "\(name(entry)) is not its exchange's")
        }
        let agrees =
            switch entry.state {
            // Where the attempt of a repeatable request broke and its client still sends, the rest of the body is collected.
            case .attempting where exchange.phase == .collecting(for: .verdict):
                exchange.attempt == nil && exchange.client?.isReceivingRequest == true
                    && simulation.truth(of: entry).map { $0.isRepeatableByNature || $0.hasBeenVouched } == true
            case .attempting: exchange.attempt != nil && exchange.phase != .parked
            case .waiting, .held, .undecided: exchange.attempt == nil && exchange.phase == .parked
            case .delivered, .cancelled, .expired, .failed: false
            }
        if !agrees { breach("engineAndLoopsAgree", "\(name(entry)), but its loop says \(exchange.phase)") }
    }

    /// A gate that was shut when its canary began is open once the canary's connection stands.
    private func standingConnectionsOpenGates(_ pending: PendingSet) {
        for lane in simulation.lanes {
            for attempt in lane.worker.running.values
            where !attempt.isCancelled && attempt.attempt.hasBegunSending.load(ordering: .relaxed) && attempt.startedAt > reloadedAt {
                guard let exchange = attempt.attempt.receiver as? Exchange, exchange.attempt === attempt.attempt,
                    let id = exchange.entry, let entry = pending.entries[id], entry.attempt?.isCanary == true,
                    // A reload may have named another way meanwhile.
                    entry.parentProxyGate == attempt.attempt.request.parentProxy?.gate
                else { continue }
                // A parent proxy that takes a request of HTTP has not yet reached the origin.
                let parentProxyGate = attempt.attempt.request.parentProxy?.gate
                let reached = parentProxyGate.map { entry.origin.scheme == .http ? [$0] : [entry.origin, $0] } ?? [entry.origin]
                for gate in reached where pending.origins.isShut(gate) {
                    guard let shutAt = shutAt[gate], shutAt < attempt.startedAt else { continue }
                    breach("standingConnectionsOpenGates", "\(attempt.name) is connected to \(gate)")
                }
            }
        }
    }

    /// Every attempt upstream belongs to an entry, or may finish because it may have been applied.
    private func cancelledAttemptsStop() {
        for lane in simulation.lanes {
            for attempt in lane.worker.running.values where !attempt.isCancelled {
                let exchange = attempt.attempt.receiver as? Exchange
                if exchange?.attempt !== attempt.attempt {
                    breach("cancelledAttemptsStop", "\(attempt.name) runs for nobody")
                }
                if let id = exchange?.entry, gone.contains(id) {
                    breach("cancelledAttemptsStop", "\(attempt.name) runs on")
                }
                // Another client may ask for the same afterwards.
                if exchange?.store == nil, attempt.truth.isCancelAsked, !attempt.truth.hasTwins {
                    breach("cancelledAttemptsStop", "\(attempt.name) runs after a person cancelled it")
                }
            }
        }
    }

    private func waitingClientsAreKnown() {
        for client in simulation.clients
        where !client.isClosed && !client.hasClosedOutput && client.isTakingAll {
            guard let truth = client.current, truth.isSent, client.isIdle else { continue }
            if client.connection.exchange == nil {
                breach(
                    "everyClientGetsOneAnswer",
                    "nobody knows of r\(truth.number), and c\(client.number) waits")
            }
        }
    }

    // MARK: At the end

    /// Some time after all is well.
    func checkNoEntryWaitsForEver() {
        guard simulation.breaches.isEmpty else { return }
        let pending = simulation.engine.assumeIsolated { $0.pending }
        for entry in simulation.liveEntries where entry.state != .held && entry.state != .undecided {
            // Entries before it in its lane, or its parents, may wait for a person.
            if pending.blocker(of: entry) != nil { continue }
            // By its policy it is paid for by other requests, and none comes.
            if entry.owesBudget, entry.policy.budget?.minimum == 0 { continue }
            // Bodies of clients that send no more never end.
            if let exchange = simulation.engine.assumeIsolated({ $0.exchanges[entry.id] }) as? Exchange,
                exchange.client?.isReceivingRequest == true
            {
                continue
            }
            breach("noEntryWaitsForEver", name(entry))
        }
    }

    /// People have decided about everything, and time has passed.
    func checkTheEnd() {
        guard simulation.breaches.isEmpty else { return }
        // Tickets outlive a process that is stopped.
        for entry in simulation.liveEntries where !simulation.isDraining || entry.ticket == nil {
            breach("noEntryWaitsForEver", name(entry))
        }
        if !simulation.isDraining { checkTickets() }
        for client in simulation.clients where !client.isClosed {
            if let truth = client.current, truth.isSent {
                breach("everyClientGetsOneAnswer", "c\(client.number) waits for r\(truth.number)")
            }
        }
        for lane in simulation.lanes {
            for attempt in lane.worker.inOrder { breach("nothingRunsForEver", attempt.name) }
        }
        let pending = simulation.engine.assumeIsolated { $0.pending }
        for (origin, line) in pending.origins.states where line.freshUnderWay != 0 || line.underWay != 0 {
            breach("nothingRunsForEver", "\(origin): \(line.freshUnderWay) fresh")
        }
        if pending.incidentCount > 0, pending.count == 0 {
            breach("incidentsMatchTheirEntries", "one is open at the end")
        }
    }
}
