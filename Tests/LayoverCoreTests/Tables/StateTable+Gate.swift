import LayoverTestSupport

@testable import LayoverCore

extension StateTable {
    /// The gate of one origin, with room for four.
    static var gate: StateTable {
        StateTable(
            name: "The gate of an origin",
            introduction: """
                Room for four at once. `open (n)` admits n replays, `shut, waiting` nobody, and `shut, canary \
                due` one. However many fresh requests are under way, an open gate admits one replay. `unconfirmed` is a gate that a \
                connection opened: no response has come since.
                """,
            states: ["open (4)", "open (2)", "open (1)", "unconfirmed (2)", "shut, waiting", "shut, canary due"],
            events: [
                "connected", "answered", "failed before sending", "canary failed before sending", "failed after sending",
                "may be reachable", "canary's time",
            ]
        ) { state, event in
            var trial = GateTrial(state)
            trial.meet(event)
            return .init(next: trial.name, actions: [])
        }
    }
}

private struct GateTrial {
    private var gate = OriginGate(windowMax: 4)
    private var now = Timestamp.at(.seconds(100))
    private var generator = SeededGenerator(seed: 1)

    init(_ state: String) {
        switch state {
        case "open (2)": meet("failed after sending")
        case "open (1)": for _ in 0..<2 { meet("failed after sending") }
        case "unconfirmed (2)": for event in ["failed before sending", "connected"] { meet(event) }
        case "shut, waiting": meet("failed before sending")
        case "shut, canary due": for event in ["failed before sending", "canary's time"] { meet(event) }
        default: break
        }
    }

    mutating func meet(_ event: String) {
        let delay = Policy.fixture().delay
        switch event {
        case "connected": gate.connected()
        case "answered": gate.answered()
        case "failed before sending": gate.failed(isFromCanary: false, delay: delay, now: now, using: &generator)
        case "canary failed before sending": gate.failed(isFromCanary: true, delay: delay, now: now, using: &generator)
        case "failed after sending": gate.wentWrong()
        case "may be reachable": gate.mayBeReachable(now: now)
        default: now = max(now, gate.canaryAt ?? now)
        }
    }

    var name: String {
        guard gate.isShut else { return "\(gate.isUnconfirmed ? "unconfirmed" : "open") (\(gate.window))" }
        return gate.admits(underWay: 0, freshUnderWay: 0, now: now) ? "shut, canary due" : "shut, waiting"
    }
}
