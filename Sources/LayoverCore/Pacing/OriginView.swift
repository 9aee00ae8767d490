/// An origin as people see it: its gate, and what waits behind it.
package struct OriginView: Sendable, Hashable {
    package enum Gate: String, Sendable, Hashable, CaseIterable {
        /// Requests go as they come.
        case open
        /// The gate was shut, and the origin has not proved itself since: few requests go at once.
        case watched
        /// One request at a time tries whether the origin is back.
        case shut
    }

    /// A time for which the origin, or a parent proxy, asked the requests of a policy to stay away.
    package struct Pause: Sendable, Hashable {
        package let policy: String
        package let until: Timestamp
    }

    package let origin: Origin
    package let gate: Gate
    /// How many attempts of entries may be under way at once.
    package let window: Int
    /// Attempts of entries under way.
    package let underWay: Int
    /// First attempts of requests that are no entries, as far as the gate counts them.
    package let freshUnderWay: Int
    /// Live entries, whatever their state.
    package let backlog: Int
    /// Attempts in a row that did not reach it.
    package let failureCount: Int
    /// When the next attempt may try whether it is back; nil while the gate is not shut.
    package let canaryAt: Timestamp?
    /// Pauses, sorted by the name of their policy. Those that parent proxies asked for are included.
    package let pauses: [Pause]

    init(_ origin: Origin, _ state: OriginState) {
        self.origin = origin
        gate = state.gate.isShut ? .shut : state.gate.isUnconfirmed ? .watched : .open
        window = state.gate.window
        underWay = state.underWay
        freshUnderWay = state.freshUnderWay
        backlog = state.entryCount
        failureCount = state.gate.failureCount
        canaryAt = state.gate.isShut ? state.gate.canaryAt : nil
        let own = state.pacings.compactMap { name, pacing in pacing.pause.map { Pause(policy: name, until: $0.end) } }
        let throughParentProxies = state.parentProxyPauses.map { Pause(policy: $0.key.policy, until: $0.value.end) }
        pauses = (own + throughParentProxies).sorted { ($0.policy, $0.until) < ($1.policy, $1.until) }
    }
}
