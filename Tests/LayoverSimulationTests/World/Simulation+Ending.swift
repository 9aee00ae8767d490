@testable import LayoverCore
@testable import LayoverEngine

extension Simulation {
    /// Longest that anything may take once all is well: the longest `Retry-After` that policies obey here is
    /// 40 s, the longest delay and the longest wait for a canary 30 s, a hanging connect 10 s.
    private static let recoveryMax: Duration = .seconds(150)

    /// All is well from now on, and whoever can come to an end does; then people decide about the rest.
    func finishEverything() {
        if chance(15) { return drain() }
        recover()
        waitUntil { self.liveEntries.allSatisfy { $0.state == .held || $0.state == .undecided } }
        referee.checkNobodyWaitsForEver()
        decideAll()
        waitUntil { self.liveEntries.isEmpty }
        referee.checkTheEnd()
    }

    /// Lets time pass until all is as wanted and no attempt is under way, but not for longer than anything may
    /// take.
    private func waitUntil(_ isRight: () -> Bool) {
        let part: Duration = .seconds(5)
        for _ in 0..<Int(Self.recoveryMax / part) where breaches.isEmpty {
            advance(by: part)
            if isRight(), lanes.allSatisfy({ $0.worker.running.isEmpty }),
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
        for entry in liveEntries {
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

    /// The proxy is stopped in the middle of it all.
    private func drain() {
        trace { "drain" }
        isDraining = true
        engine.assumeIsolated { $0.drain() }
        referee.checkEngine()
        for lane in lanes { _ = lane.loop.drain() }
        for client in clients { client.takeAgain() }
        isRecovering = true
        for lane in lanes { for attempt in lane.worker.inOrder { attempt.recover() } }
        waitUntil { self.liveEntries.isEmpty }
        referee.checkTheEnd()
    }
}
