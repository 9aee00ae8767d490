/// What happens to open tunnels while a person has set the mode `offline`.
package enum OfflineTunnels: String, Sendable, Hashable, CaseIterable {
    /// No byte passes until the mode ends. The default.
    case freeze
    /// Open tunnels are reset, and attempts under way are aborted.
    case cut
    /// Open tunnels go on.
    case keep
}

/// Whether bytes pass through an open tunnel: what the mode and the rehearsals say about it.
///
/// A tunnel is a CONNECT or an upgraded connection. It is frozen while any of the two freezes it. It is reset once, when the mode or the
/// rehearsal begins that resets it. Evidence about the network changes nothing: a tunnel that does not work ends by itself.
package struct TunnelRules: Sendable {
    /// The reason for a look at a tunnel.
    package enum Occasion: Sendable, Hashable {
        case opened
        case modeSet
        /// Rehearsals began, ended or were stopped. Those with a higher number have begun since the look before.
        case rehearsed(after: Int)
    }

    package enum Treatment: Sendable, Hashable { case relay, freeze, reset }

    /// The rule of the mode for open tunnels. Nil: the mode is not `offline`.
    package private(set) var offline: OfflineTunnels?
    private var rehearsals: [Rehearsal] = []
    private var newestRehearsal = 0

    package init() {}

    /// - Parameter offline: Nil: the mode is not `offline`.
    package mutating func modeSet(_ offline: OfflineTunnels?) -> Occasion {
        self.offline = offline
        return .modeSet
    }

    /// - Parameter current: Those under way.
    package mutating func rehearsed(_ current: [Rehearsal]) -> Occasion {
        defer { newestRehearsal = max(newestRehearsal, current.map(\.number).max() ?? 0) }
        rehearsals = current
        return .rehearsed(after: newestRehearsal)
    }

    /// - Parameter origin: The other end of the tunnel.
    package func treatment(of origin: Origin, on occasion: Occasion, now: Timestamp) -> Treatment {
        if occasion == .modeSet, offline == .cut { return .reset }
        let rehearsal = Rehearsals.applying(of: rehearsals, to: origin, now: now)
        let effect = rehearsal?.order.fault.effectOnOpenTunnels ?? .relay
        if case .rehearsed(let last) = occasion, effect == .reset, let rehearsal, rehearsal.number > last { return .reset }
        return offline == .freeze || effect == .freeze ? .freeze : .relay
    }
}

extension RehearsalFault {
    /// The effect on a tunnel that is open when the rehearsal begins.
    package var effectOnOpenTunnels: TunnelRules.Treatment {
        switch self {
        case .refuse, .cut, .portal: .reset
        case .hang: .freeze
        case .status, .slow: .relay
        }
    }
}
