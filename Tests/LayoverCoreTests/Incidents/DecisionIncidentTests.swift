import Testing

@testable import LayoverCore

/// What waits for a person is an incident of its own kind, and what waits behind it names it.
struct DecisionIncidentTests {
    private var bench = PendingBench()
    private let asking = Policy.fixture { $0.onMaybeApplied = .ask }

    private func incident(of id: EntryID) -> Incident? {
        bench.entry(id)?.incident.flatMap { bench.set.incident($0, now: bench.now) }
    }

    @Test mutating func requestThatMayHaveBeenAppliedOpensADecision() throws {
        let id = bench.parked(.reset, policy: asking, asks: .maybeApplied)
        let opened = try #require(bench.incidents.first)
        #expect(opened.kind == .opened && opened.incident.kind == .decision)
        #expect(opened.incident.scope == .origin(PendingBench.origin))
        #expect(opened.incident.waiting == 1 && opened.incident.manualOnly)
        #expect(opened.incident.actions == [.cancel], "retry does not send it, only force does")
        _ = bench.command(.cancel, id)
        #expect(bench.incidents.map(\.kind) == [.closed])
    }

    @Test mutating func outageAndDecisionOfOneOriginAreTwoIncidents() {
        let lost = bench.parked(.refused)
        let open = bench.parked(.reset, policy: asking, asks: .maybeApplied)
        #expect(incident(of: lost)?.kind == .outage && incident(of: open)?.kind == .decision)
        #expect(bench.set.incidentCount == 2)
    }

    @Test mutating func forcedRequestLeavesTheDecision() {
        let id = bench.parked(.reset, policy: asking, asks: .maybeApplied)
        #expect(bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk).1 == [.start(id, .admin)])
        #expect(bench.incidents.map(\.kind) == [.closed])
        #expect(bench.entry(id)?.incident == nil)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(incident(of: id)?.kind == .decision)
    }

    @Test mutating func requestOutOfAttemptsStaysInItsOutage() {
        let id = bench.parked(.refused, policy: .fixture { $0.onExhausted = .ask }, asks: .exhausted)
        #expect(incident(of: id)?.kind == .outage)
    }

    @Test mutating func idsOfIncidentsDiffer() {
        let ids = (0..<100).compactMap { _ in
            let id = bench.parked(.refused)
            let incident = bench.entry(id)?.incident
            _ = bench.command(.cancel, id)
            return incident
        }
        #expect(Set(ids).count == 100)
    }

    /// The same request leaves the incident and joins it again and again.
    @Test mutating func memberThatComesAgainCountsOnce() throws {
        let other = bench.parked(.reset, policy: asking, asks: .maybeApplied)
        let id = bench.parked(.reset, policy: asking, asks: .maybeApplied)
        for _ in 0..<500 {
            _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
            _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        }
        let decision = try #require(incident(of: id))
        #expect(decision.waiting == 2)
        #expect(bench.set.members(of: decision.id) == [other, id])
        #expect(bench.set.incidents[decision.id]?.joined.count ?? .max < 200, "who has left is thrown out")
        #expect(bench.set.commanded(.cancel, incident: decision.id, now: bench.now).0 == .done)
        #expect(bench.set.incidentCount == 0)
    }
}
