@testable import LayoverCore

extension StateTable {
    /// The monitor in mode `auto`, with a probe.
    static var reachability: StateTable {
        StateTable(
            name: "Reachability",
            introduction: """
                Mode `auto` (unless the column says otherwise), with a probe; changes of links as they stand at \
                the end of their window (a way where none was does the same at once, so all of it stands there twice). What the monitor tells the engine stands after the arrow, in its order: `changed` (tell \
                people), `networkChanged` (drop connections and names), `wake` (ways may be open), `probe`.
                """,
            states: ReachabilityTrial.places.map(\.name), events: ReachabilityTrial.events.map(\.name)
        ) { state, event in ReachabilityTrial.attempt(event, in: state) }
    }
}

private struct ReachabilityTrial {
    typealias Step = @Sendable (inout ReachabilityBench) -> [ReachabilityAction]

    private static func learn(_ facts: ReachabilityFact...) -> Step {
        { bench in facts.flatMap { bench.learn($0) } }
    }

    private static func link(_ snapshot: LinkSnapshot) -> Step { { $0.settle(snapshot) } }

    private static let failedProbe = ReachabilityFact.probed(.failed(.connectionTimeout, message: "No answer."))
    private static let away = ["a", "b", "c"].map { ReachabilityFact.originAway(Origin(scheme: .https, host: $0)) }

    static let places: [(name: String, links: LinkSnapshot?, step: Step)] = [
        ("unknown", nil, { _ in [] }),
        ("online", ReachabilityBench.home, { _ in [] }),
        ("limited (doubted)", ReachabilityBench.home, { bench in away.flatMap { bench.learn($0) } }),
        ("limited (probe failed)", ReachabilityBench.home, learn(failedProbe)),
        ("limited (no route)", ReachabilityBench.cable, { _ in [] }),
        ("portal", ReachabilityBench.home, learn(.probed(.portal(status: 302)))),
        ("offline (no link)", ReachabilityBench.nothing, { _ in [] }),
        ("offline (admin)", ReachabilityBench.home, learn(.mode(.offline, reason: nil))),
        ("online (admin)", ReachabilityBench.home, learn(.mode(.online, reason: nil))),
    ]

    static let events: [(name: String, step: Step)] = [
        ("another network", link(ReachabilityBench.office)), ("a link without a route", link(ReachabilityBench.cable)),
        ("no link", link(ReachabilityBench.nothing)),
        ("resolver changed", { bench in bench.learn(.resolverChanged) + bench.wait(.milliseconds(500)) }),
        ("resumed", learn(.resumed)), ("hinted", learn(.hinted)),
        ("probe: expected", learn(.probed(.expected))), ("probe: portal", learn(.probed(.portal(status: 302)))),
        ("probe: no response", learn(failedProbe)),
        ("one origin away", learn(.originAway(Origin(scheme: .https, host: "x")))),
        ("three origins away", { bench in away.flatMap { bench.learn($0) } }),
        ("an origin is back", learn(.originBack)),
        ("mode auto", learn(.mode(.auto, reason: nil))), ("mode online", learn(.mode(.online, reason: nil))),
        ("mode offline", learn(.mode(.offline, reason: nil))),
    ]

    static func attempt(_ event: String, in state: String) -> StateTable.Cell {
        guard let place = places.first(where: { $0.name == state }),
            let step = events.first(where: { $0.name == event })
        else { return .init(next: "?", actions: []) }
        var bench = ReachabilityBench(hasProbe: true, links: place.links)
        // The probe that is due at once has been made, as far as this table goes.
        _ = bench.wait(.zero)
        _ = place.step(&bench)
        let actions = step.step(&bench).map { "\($0)" }
        return .init(next: name(of: bench.machine), actions: actions)
    }

    private static func name(of machine: Reachability) -> String {
        let state = machine.view.state
        if machine.mode != .auto { return "\(state.rawValue) (admin)" }
        return switch state {
        case .offline: "offline (no link)"
        case .limited: "limited (\(limit(of: machine)))"
        default: state.rawValue
        }
    }

    private static func limit(of machine: Reachability) -> String {
        if machine.detail?.hasPrefix("The probe") == true { return "probe failed" }
        return machine.detail?.hasPrefix("The last") == true ? "doubted" : "no route"
    }
}
