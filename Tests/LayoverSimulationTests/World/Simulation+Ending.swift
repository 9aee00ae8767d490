@testable import LayoverCore
@testable import LayoverEngine

extension Simulation {
    /// Longest that anything may take once all is well: the longest `Retry-After` that policies obey here is
    /// 40 s, the longest delay and the longest wait for a canary 30 s, a hanging connect 10 s.
    private static let recoveryMax: Duration = .seconds(150)

    /// All is well from now on, and whoever can come to an end does; then people decide about the rest.
    func finishEverything() throws {
        if chance(15) {
            try drainToTheEnd()
            guard storesTickets, breaches.isEmpty else { return }
            // The remaining requests continue in another life of the process.
            try die()
        }
        recover()
        try waitUntil { self.liveEntries.allSatisfy { $0.state == .held || $0.state == .undecided } }
        referee.checkNoEntryWaitsForEver()
        // A decision may lead to the need for another one.
        for _ in 0..<12 where !liveEntries.isEmpty {
            decideAll()
            try waitUntil { self.liveEntries.allSatisfy { $0.state == .held || $0.state == .undecided } }
        }
        referee.checkTheEnd()
    }

    /// Lets time pass until all is as wanted and no attempt is under way, but not for longer than anything may
    /// take.
    private func waitUntil(_ isRight: () -> Bool) throws {
        let part: Duration = .seconds(5)
        for _ in 0..<Int(Self.recoveryMax / part) where breaches.isEmpty {
            try advance(by: part)
            if isRight(), !isStoreClosed || isDraining, lanes.allSatisfy({ $0.worker.running.isEmpty }),
                clients.allSatisfy({ $0.isClosed || $0.current == nil })
            {
                return
            }
        }
    }

    private func recover() {
        trace { "all is well from here on" }
        isRecovering = true
        network = SimulatedNetwork(place: network.place + 1)
        for origin in origins { moods[origin] = .up }
        setMode(.auto)
        tellLinks()
        engine.post(.hinted)
        for client in clients { client.takeAgain() }
        for lane in lanes { for attempt in lane.worker.inOrder { attempt.recover() } }
    }

    private func decideAll() {
        for id in liveEntries.map(\.id) {
            // The decision about another entry may have changed this one.
            guard let entry = engine.assumeIsolated({ $0.pending.entries[id] }) else { continue }
            let command: EntryCommand =
                switch entry.state {
                case .held: .release
                case .undecided: entry.why == .maybeApplied ? .cancel : .retry
                default: .retry
                }
            let result = engine.assumeIsolated { $0.apply(command, entry.id) }
            if result == .done { referee.accepted(command, entry) }
            referee.checkEngine()
        }
    }

    /// The proxy is told to stop in the middle of it all.
    func drain() {
        trace { "drain" }
        isDraining = true
        engine.assumeIsolated { $0.drain() }
        referee.checkEngine()
        for lane in lanes { _ = lane.loop.drain() }
        for client in clients { client.takeAgain() }
    }

    /// The drain has no time limit here.
    private func drainToTheEnd() throws {
        drain()
        isRecovering = true
        for lane in lanes { for attempt in lane.worker.inOrder { attempt.recover() } }
        let lifeBefore = life
        try waitUntil { self.life != lifeBefore || self.liveEntries.allSatisfy { $0.ticket != nil } }
        if life == lifeBefore { referee.checkTheEnd() }
    }
}
