import Testing

@testable import LayoverCore

/// What is looked at after each step.
extension PendingModel {
    mutating func check(_ set: PendingSet, started: [Origin: Bool], _ place: Comment) {
        let live = states.filter { [.waiting, .attempting, .responding].contains($0.value) }
        #expect(Set(set.entries.keys) == Set(live.keys), place)
        var counts = Dictionary(uniqueKeysWithValues: EntryState.live.map { ($0, 0) })
        stopped = []
        for entry in set.entries.values {
            let isUnderWay = states[entry.id] != .waiting
            #expect((entry.state == .attempting) == isUnderWay && !entry.state.isFinal, place)
            #expect((entry.why != nil) == (entry.state == .undecided), place)
            #expect(entry.revision >= revisions[entry.id] ?? 1, place)
            if entry.state == .held || entry.state == .undecided { stopped.insert(entry.id) }
            counts[entry.state, default: 0] += 1
            revisions[entry.id] = entry.revision
        }
        #expect(set.counts == counts, place)
        #expect(set.heldCount == live.count { !tickets.contains($0.key) }, place)
        checkOrder(set, place)
        for (origin, line) in set.origins.states {
            let here = live.filter { origins[$0.key] == origin }
            #expect(line.entryCount == here.count, place)
            #expect(line.underWay == here.count { $0.value != .waiting }, place)
            check(line, origin, started: started[origin], place)
        }
        #expect(live.keys.allSatisfy { id in origins[id].map { set.origins.states[$0] != nil } ?? false }, place)
        #expect(Set(set.shutOrigins) == shutGates, "a gate was not told: \(place)")
        checkIncidents(set, place)
        checkBudgets(set, place)
        checkHeaps(set, place)
        meant = []
    }

    private func check(_ line: OriginState, _ origin: Origin, started: Bool?, _ place: Comment) {
        if line.gate.isShut {
            if started != nil { #expect(line.underWay == 1, "more than a canary: \(place)") }
        } else if started == true {
            #expect(line.underWay <= line.gate.window, "over the window: \(place)")
        }
        guard !isDraining else { return }
        let notice = notices[origin, default: .forgotten]
        #expect(notice == (line.gate.isShut ? .shut : .watched), place)
        #expect(line.gate.isShut || line.entryCount > 0, "an idle line is kept: \(place)")
    }

    /// Everybody who waits is in the incident that it names, but for questions and for those who are answered.
    private func checkIncidents(_ set: PendingSet, _ place: Comment) {
        #expect(Set(set.incidents.states.keys) == incidents, "an incident was not told: \(place)")
        #expect(Set(set.incidents.idByTopic.values) == incidents, place)
        for line in set.incidents.states.values {
            #expect(!line.joined.isEmpty && set.incidents.idByTopic[line.topic] == line.id, place)
            let naming = set.entries.values.filter { $0.incident == line.id }.sorted { $0.sequence < $1.sequence }.map(\.id)
            #expect(set.members(of: line.id) == naming && !naming.isEmpty, "membership: \(place)")
            #expect(set.entries.memberCount(of: line.id) == naming.count, place)
        }
        for entry in set.entries.values {
            switch (states[entry.id], entry.why) {
            case (.responding, _):
                #expect(entry.incident == nil, "a member for no reason: \(place)")
            case (.waiting, .maybeApplied):
                let kind = entry.incident.flatMap { set.incidents[$0] }?.kind
                #expect(kind == .decision, "asks in no incident: \(place)")
            // A ticket is in an outage only if it has met it.
            case (.waiting, _) where !wasForced.contains(entry.id) && !tickets.contains(entry.id):
                #expect(entry.incident != nil, "waits in no incident: \(place)")
            default: break
            }
        }
    }

    /// What the budget has given is in the hands of live entries, and of nobody else.
    private func checkBudgets(_ set: PendingSet, _ place: Comment) {
        for (origin, line) in set.origins.states {
            for (name, budget) in line.pacings.compactMapValues(\.budget) {
                let inUse = set.entries.values.count {
                    $0.origin == origin && $0.policy.name == name && $0.grant == .minimum
                }
                #expect(budget.minimumInUse == inUse, "a grant leaked: \(place)")
                #expect(inUse <= budget.minimum, place)
            }
        }
        for entry in set.entries.values where entry.grant != nil {
            #expect(entry.state == .waiting || entry.state == .attempting, "a grant lies idle: \(place)")
        }
    }

    private func checkHeaps(_ set: PendingSet, _ place: Comment) {
        let placeCountMax = 101 + 2 * set.limits.entryCountMax
        for line in set.origins.states.values {
            #expect(line.placeCount <= placeCountMax, place)
        }
        #expect(set.pauses.waitingForPortalCount <= placeCountMax, place)
        #expect(set.timers.count <= 2000 + 4 * (set.limits.entryCountMax + set.origins.states.count), place)
    }
}
