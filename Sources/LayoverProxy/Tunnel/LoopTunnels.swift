import LayoverCore
import LayoverEngine
import NIOCore

/// The open tunnels of one loop, and whether bytes pass through them. Confined to it.
final class LoopTunnels {
    private struct Tunnel {
        /// The tunnel's place among all tunnels of its loop, from 1.
        let number: Int
        /// The client's half.
        let near: TunnelRelay
        let origin: Origin
    }

    private let metrics: LoopMetrics
    private var newestNumber = 0
    private var rules = TunnelRules()
    private var tunnels: [ObjectIdentifier: Tunnel] = [:]
    private var frozen: Set<ObjectIdentifier> = []

    init(metrics: LoopMetrics) { self.metrics = metrics }

    /// - Parameter near: The client's half. It relays from its start on, unless it is frozen here.
    func opened(_ near: TunnelRelay, to origin: Origin, now: Timestamp) {
        newestNumber += 1
        tunnels[ObjectIdentifier(near)] = Tunnel(number: newestNumber, near: near, origin: origin)
        metrics.tunnelCount.increment()
        metrics.openTunnelCount.increment()
        if rules.treatment(of: origin, on: .opened, now: now) == .freeze { freeze(near) }
    }

    /// - Returns: Whether it was open.
    func closed(_ near: TunnelRelay) -> Bool {
        guard tunnels.removeValue(forKey: ObjectIdentifier(near)) != nil else { return false }
        metrics.openTunnelCount.increment(by: -1)
        if frozen.remove(ObjectIdentifier(near)) != nil { metrics.frozenTunnelCount.increment(by: -1) }
        return true
    }

    // MARK: Modes and rehearsals

    /// - Parameter offline: Nil: the mode is not `offline`.
    func modeSet(_ offline: OfflineTunnels?, now: Timestamp) { look(rules.modeSet(offline), now: now) }

    func rehearsed(_ current: [Rehearsal], now: Timestamp) { look(rules.rehearsed(current), now: now) }

    private func look(_ occasion: TunnelRules.Occasion, now: Timestamp) {
        // The oldest first: what is done to many must not depend on the order of a dictionary.
        for tunnel in tunnels.values.sorted(by: { $0.number < $1.number }) {
            switch rules.treatment(of: tunnel.origin, on: occasion, now: now) {
            case .relay: thaw(tunnel.near)
            case .freeze: freeze(tunnel.near)
            case .reset: tunnel.near.reset()
            }
        }
    }

    private func freeze(_ near: TunnelRelay) {
        guard frozen.insert(ObjectIdentifier(near)).inserted else { return }
        metrics.frozenTunnelCount.increment()
        near.freeze()
    }

    private func thaw(_ near: TunnelRelay) {
        guard frozen.remove(ObjectIdentifier(near)) != nil else { return }
        metrics.frozenTunnelCount.increment(by: -1)
        near.thaw()
    }

    // MARK: Time

    func tick(now: NIODeadline, coarseNow: NIODeadline, idleMax: TimeAmount) {
        for tunnel in tunnels.values { tunnel.near.tick(now: now, coarseNow: coarseNow, idleMax: idleMax) }
    }

    func closeAll() { for tunnel in Array(tunnels.values) { tunnel.near.close() } }
}
