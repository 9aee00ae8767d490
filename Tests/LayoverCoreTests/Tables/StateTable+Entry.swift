@testable import LayoverCore

extension StateTable {
    /// Transitions of an entry that is alone at its origin, as the pending set sees them.
    static var entry: StateTable {
        let states = EntryTrial.places.map(\.name)
        return StateTable(
            name: "An entry",
            introduction: """
                One entry, alone at its origin, whose gate is open unless the column says otherwise. `waiting` waits \
                for time, `waiting (shut)` for its origin; `ticket` waits for time too, and `ticket (behind)` for \
                those before it in its lane: the others. `unattended` is an attempt whose client is gone. `undecided (other)` has a parent that failed. A dot: nothing changes. Commands that are not allowed say \
                `conflict`. What the set tells the loop stands after the arrow.
                """,
            states: states, events: EntryTrial.events.map(\.name)
        ) { state, event in EntryTrial.attempt(event, in: state) }
    }
}

/// One entry that is brought into a state, and then meets one event.
private struct EntryTrial {
    typealias Step = @Sendable (inout PendingBench, EntryID) -> [PendingAction]
    typealias Place = @Sendable (inout PendingBench) -> EntryID

    static let policy = Policy.fixture {
        $0.onExhausted = .ask
        $0.holdMax = .seconds(60)
        $0.lifetime = .seconds(60)
    }

    private static func parked(_ failure: Failure, asks: UndecidedReason? = nil) -> Place {
        { $0.parked(failure, delay: .seconds(5), policy: policy, asks: asks) }
    }

    private static func after(_ place: @escaping Place, _ step: @escaping Step) -> Place {
        { bench in
            let id = place(&bench)
            _ = step(&bench, id)
            return id
        }
    }

    static let places: [(name: String, place: Place)] = [
        ("waiting", parked(.reset)),
        ("waiting (shut)", parked(.refused)),
        ("ticket", after({ $0.accepted { $0.policy = policy } }) { $0.fail($1, .reset, delay: .seconds(5)) }),
        ("ticket (behind)", { $0.lane(2) { $0.policy = policy }[1] }),
        ("attempting", after(parked(.reset)) { $0.command(.retry, $1).1 }),
        (
            "unattended",
            after(after(parked(.reset)) { $0.command(.retry, $1).1 }) { $0.handle(AttemptBecameUnattended($1, for: .seconds(60))) }
        ),
        ("held", after(parked(.reset)) { $0.command(.hold, $1).1 }),
        ("undecided (exhausted)", parked(.reset, asks: .exhausted)),
        ("undecided (maybeApplied)", parked(.reset, asks: .maybeApplied)),
        (
            "undecided (other)",
            { bench in
                let parent = bench.accepted()
                let id = bench.accepted {
                    $0.parents = [parent]
                    $0.policy = policy
                }
                _ = bench.end(parent, as: .failed)
                return id
            }
        ),
        ("delivered", after(parked(.reset)) { $0.end($1) }),
        ("cancelled", after(parked(.reset)) { $0.command(.cancel, $1).1 }),
        ("expired", after(parked(.reset, asks: .exhausted)) { bench, _ in bench.wait(.seconds(60)) }),
        ("failed", after(parked(.reset)) { $0.end($1, as: .failed) }),
    ]

    private static func others(end state: EntryState) -> Step {
        { bench, id in
            bench.set.idsInOrder.filter { $0 != id }.flatMap { bench.end($0, as: state) }
        }
    }

    private static func command(_ command: EntryCommand, _ words: String? = nil) -> Step {
        { bench, id in bench.command(command, id, acknowledgement: words).1 }
    }

    static let events: [(name: String, step: Step)] = [
        ("due time", { bench, _ in bench.wait(.seconds(5)) }),
        ("expiry", { bench, _ in bench.wait(.seconds(60)) }),
        ("reachable", { bench, _ in bench.reachable() }),
        ("origin answered", { bench, _ in bench.originAnswered() }),
        ("attempt answered", { $0.answer($1) }),
        ("attempt failed: park", { $0.fail($1, .reset, delay: .seconds(5)) }),
        ("attempt failed: park, shut", { $0.fail($1, .refused, delay: .seconds(5)) }),
        ("attempt failed: status", { $0.status($1, delay: .seconds(5)) }),
        ("attempt failed: ask, exhausted", { $0.fail($1, .reset, asks: .exhausted, rule: .onExhausted) }),
        ("attempt failed: ask, maybeApplied", { $0.fail($1, .reset, asks: .maybeApplied, rule: .onMaybeApplied) }),
        ("ended: delivered", { $0.end($1) }),
        ("ended: failed", { $0.end($1, as: .failed, failure: .reset) }),
        ("ended: client left", { $0.end($1, as: .cancelled) }),
        ("client left, may be applied", { $0.handle(AttemptBecameUnattended($1, for: .seconds(60))) }),
        ("attempt refused", { $0.refuse($1) }),
        ("others delivered", others(end: .delivered)), ("others failed", others(end: .failed)),
        (
            "is to be stored",
            { bench, id in
                _ = bench.willStore(id)
                return []
            }
        ),
        (
            "is stored",
            { bench, id in
                _ = bench.willStore(id)
                return bench.stored(id)
            }
        ),
        ("retry", command(.retry)), ("cancel", command(.cancel)), ("hold", command(.hold)),
        ("release", command(.release)), ("force", command(.force)),
        ("force, acknowledged", command(.force, EntryCommand.duplicateRisk)), ("settle", command(.settle)),
        ("abort", command(.abort)),
        ("mode offline", { bench, _ in bench.mode(.offline) }),
        ("portal", { bench, _ in bench.portal(true) }),
        ("rerouted", { $0.reroute($1, route: "new", policy: .fixture { $0.holdMax = .seconds(90) }) }),
        ("drained", { bench, _ in bench.drain() }),
    ]

    static func attempt(_ event: String, in state: String) -> StateTable.Cell {
        var bench = PendingBench()
        guard let place = places.first(where: { $0.name == state }),
            let step = events.first(where: { $0.name == event })
        else { return .init(next: "?", actions: []) }
        let id = place.place(&bench)
        let revision = bench.entry(id)?.revision
        var actions = step.step(&bench, id).compactMap(word)
        if let command = EntryCommand(rawValue: String(event.prefix { $0 != "," })),
            bench.entry(id)?.revision == revision
        {
            let words = event.contains(",") ? EntryCommand.duplicateRisk : nil
            actions.append(bench.command(command, id, acknowledgement: words).0.rawValue)
        }
        return .init(next: name(of: id, in: bench), actions: actions)
    }

    private static func name(of id: EntryID, in bench: PendingBench) -> String {
        guard let entry = bench.entry(id) else { return "?" }
        let isShut = !bench.shutOrigins.isEmpty
        return switch entry.state {
        case .attempting where entry.isUnattended: "unattended"
        case .waiting where isShut: "waiting (shut)"
        case .waiting where entry.waitingFor == .lane: "ticket (behind)"
        case .waiting: entry.ticket == nil ? "waiting" : "ticket"
        case .undecided:
            [.exhausted, .maybeApplied].contains(entry.why)
                ? "undecided (\(entry.why?.rawValue ?? "?"))" : "undecided (other)"
        default: entry.state.rawValue
        }
    }

    private static func word(_ action: PendingAction) -> String? {
        switch action {
        case .start(_, let trigger): "start by \(trigger.rawValue)"
        case .abandonConnecting: "abandon if connecting"
        case .lookForOthers: "look for others"
        case .reroute: "reroute"
        case .abortAttempt: "abort the attempt"
        case .end(_, .cancelled): "end: cancelled"
        case .end(_, .settled): "end: settled"
        case .end(_, .superseded): "end: superseded"
        case .end(_, .expired): "end: expired"
        case .end(_, .draining): "end: draining"
        case .end(_, .maybeApplied): "end: maybeApplied"
        case .end(_, .exhausted): "end: exhausted"
        case .end(_, .unattended): "end: unattended"
        case .offerTicket: "offer a ticket"
        case .refuse: "refuse"
        case .dropResponse: "drop the response"
        case .deliverResponse: "deliver the answer"
        case .incident, .gate, .announce, .report: nil
        }
    }
}
