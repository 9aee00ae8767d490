/// Entries behind parent proxies.
///
/// A parent proxy has a gate of its own, kept like that of an origin under `Entry.parentProxyGate`. Only a connection to the proxy
/// that could not be made shuts it. While it is shut one canary goes for all origins behind it; whatever else has its turn is put
/// aside until it opens, and goes then in the growing window of the proxy and of its own origin. Once that window is as wide as it
/// gets, the proxy bounds nothing: each origin has a window of its own.
extension Schedule {
    /// Whether the parent proxy of an entry lets it go.
    func parentProxyAdmits(_ gate: Origin?, now: Timestamp) -> Bool {
        guard let gate, let state = origins.states[gate] else { return true }
        if state.gate.isShut { return state.gate.admits(underWay: state.underWay, freshUnderWay: 0, now: now) }
        return state.gate.isFullyOpen || state.underWay < state.gate.window
    }

    /// The gate that keeps an entry: that of its parent proxy before that of its origin. Nil: none does.
    func shutGate(before entry: Entry) -> Origin? {
        if let gate = entry.parentProxyGate, origins.isShut(gate) { return gate }
        return origins.isShut(entry.origin) ? entry.origin : nil
    }

    /// Whether no attempt is under way that tests the shut gates before an entry.
    func isUntried(_ entry: Entry) -> Bool {
        if let gate = entry.parentProxyGate, origins.isShut(gate), origins[gate].underWay > 0 { return false }
        return !origins.isShut(entry.origin) || origins[entry.origin].underWay == 0
    }

    /// Puts an entry aside whose turn has come, until its parent proxy lets one go.
    mutating func putAside(_ place: EntryPlace, of entry: Entry, behind gate: Origin) {
        origins[gate].addEligible(place, of: entry, isAskedFor: entry.isAttemptAskedFor)
        origins[gate].dropStalePlaces { entries.isCurrent($0) }
    }

    /// Has entries that were put aside take their turn at their origins, as far as the parent proxy admits.
    mutating func dispatch(through gate: Origin, now: Timestamp) {
        // A gate whose last entry has left is not known, and has nobody to let go.
        guard origins.isKnown(gate) else { return }
        while parentProxyAdmits(gate, now: now), let place = origins[gate].popNext() {
            guard entries.isCurrent(place), let entry = entries[place.id] else { continue }
            makeEligibleAgain(place.id, by: entry.eligibleBy ?? (origins.isShut(gate) ? .canary : .reachability))
            dispatch(entry.origin, now: now)
        }
    }

    /// An entry joins those that go through a parent proxy.
    mutating func joinParentProxy(_ gate: Origin?, _ policy: Policy, now: Timestamp) {
        guard let gate else { return }
        origins[gate].joinedThrough(policy)
        limitCanaryDelay(of: gate, now: now)
        originChanged(gate)
    }

    mutating func leaveParentProxy(_ gate: Origin?, _ policy: Policy) {
        guard let gate else { return }
        origins[gate].leftThrough(policy)
        originChanged(gate)
    }

    mutating func attemptGoes(_ id: EntryID, through gate: Origin?) {
        guard case .attempting(var attempt)? = entries[id]?.fullState else { return }
        attempt.parentProxyGate = gate
        entries[id]?.fullState = .attempting(attempt)
    }

    /// Evidence that the parent proxy of an attempt was reached: the connection to it stood.
    ///
    /// - Parameter isAnswered: Whether the proxy, or the origin behind it, said anything.
    mutating func parentProxyReached(_ gate: Origin?, isAnswered: Bool, now: Timestamp) {
        guard let gate, origins.isKnown(gate) else { return }
        if isAnswered { originOpened(gate, now: now) } else { originConnected(gate) }
    }
}

extension Failure {
    /// Whether it says that the parent proxy could be reached.
    var provesParentProxy: Bool { kind != .parentProxyUnreachable && !isOurOwn && (kind == .parentProxyDenied || phase >= .connecting) }
}
