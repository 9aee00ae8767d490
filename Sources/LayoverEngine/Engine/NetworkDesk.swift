package import LayoverCore

/// The engine's side of the network: what reachability makes of its facts, the probe under way, and the servers on this machine that
/// are waited for.
struct NetworkDesk {
    private(set) var reachability: Reachability
    private var prober: (any Prober)?
    /// Whether a probe was due before the prober was set.
    private var isProbeDue = false
    private var probe: Task<Void, Never>?
    /// Counts probes, so that the result of a cancelled one can be recognized.
    private var probeNumber = 0
    /// Nil: which sockets listen is not known.
    private var listenerTable: (any ListenerTable)?
    private var listenerWatch = ListenerWatch()

    init(_ reachability: Reachability) { self.reachability = reachability }

    var nextWakeAt: Timestamp? { [reachability.nextWakeAt, listenerWatch.nextLookAt].compactMap(\.self).min() }

    mutating func observe(_ fact: ReachabilityFact, now: Timestamp) -> [ReachabilityAction] { reachability.observe(fact, now: now) }

    mutating func advance(to now: Timestamp) -> [ReachabilityAction] { reachability.advance(to: now) }

    // MARK: Probes

    /// - Returns: Whether a probe is due.
    mutating func setProber(_ prober: any Prober) -> Bool {
        self.prober = prober
        return takeDueProbe()
    }

    /// - Returns: Whether a probe was due while there was no prober.
    mutating func takeDueProbe() -> Bool {
        defer { isProbeDue = false }
        return isProbeDue
    }

    /// Starts a probe. A probe that is still under way is cancelled.
    ///
    /// - Parameter report: Gets the number of the probe and its result.
    mutating func startProbe(_ report: @escaping @Sendable (Int, ProbeResult) async -> Void) {
        isProbeDue = prober == nil
        guard let prober else { return }
        probe?.cancel()
        probeNumber += 1
        let number = probeNumber
        probe = Task { await report(number, await prober.probe()) }
    }

    /// Whether no later probe was started than the one with this number.
    func isCurrent(_ number: Int) -> Bool { number == probeNumber }

    // MARK: Servers on this machine

    mutating func setListenerTable(_ table: any ListenerTable) { listenerTable = table }

    /// - Parameter origins: All origins on this machine that are waited for.
    mutating func watchListeners(on origins: @autoclosure () -> Set<Origin>, now: Timestamp) {
        if listenerTable != nil { listenerWatch.watch(origins(), now: now) }
    }

    /// Looks, if it is time, which origins on this machine listen again.
    mutating func lookForListeners(now: Timestamp) -> [Origin] {
        guard let listenerTable, let dueAt = listenerWatch.nextLookAt, dueAt <= now else { return [] }
        var sockets: [Origin: Set<UInt64>] = [:]
        for origin in listenerWatch.origins {
            guard let found = listenerTable.listeners(on: origin.port) else {
                // A system that does not tell once never does.
                self.listenerTable = nil
                listenerWatch = ListenerWatch()
                return []
            }
            sockets[origin] = found
        }
        return listenerWatch.looked(sockets, now: now)
    }
}

/// Knows which sockets of this machine listen.
package protocol ListenerTable: Sendable {
    /// The TCP sockets that listen at a port, whatever their address, each by a number that no other socket gets. Does not block.
    ///
    /// - Returns: Nil if the system does not tell.
    func listeners(on port: Int) -> Set<UInt64>?
}

/// Checks on purpose whether the network leads anywhere.
package protocol Prober: Sendable {
    /// Makes one check. Takes as long as its own time-outs allow, never longer.
    func probe() async -> ProbeResult
}
