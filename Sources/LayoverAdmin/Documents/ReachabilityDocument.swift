import LayoverCore
import LayoverText

/// Reachability as programs see it.
package struct ReachabilityDocument: Codable, Sendable {
    package struct Link: Codable, Sendable {
        package var name: String
        package var addresses: [String]
    }

    package struct DefaultRoute: Codable, Sendable {
        package var family: String
        /// The name of the link; null if it names none.
        @OrNull package var link: String?
        @OrNull package var gateway: String?
        package var metric: UInt32
    }

    package struct Probe: Codable, Sendable {
        /// `expected`, `portal` or `failed`.
        package var result: String
        @OrNull package var status: Int?
        @OrNull package var kind: String?
        @OrNull package var message: String?
        @OrNull package var at: String?
    }

    package var mode: String
    package var state: String
    package var observed: String
    package var since: String
    @OrNull package var reason: String?
    @OrNull package var detail: String?
    @OrNull package var links: [Link]?
    @OrNull package var defaultRoutes: [DefaultRoute]?
    @OrNull package var lastProbe: Probe?
    @OrNull package var networkChangedAt: String?
    /// `freeze`, `cut` or `keep`; null unless the mode is `offline`.
    @OrNull package var tunnels: String?
}

extension ReachabilityDocument {
    init(_ view: ReachabilityView, wall: WallTime) {
        self.init(
            mode: view.mode.rawValue, state: view.state.rawValue, observed: view.observed.rawValue,
            since: wall.text(of: view.since), reason: view.reason, detail: view.detail,
            links: view.links?.links.map { Link(name: $0.name, addresses: $0.addresses) },
            defaultRoutes: view.links.map(Self.routes),
            lastProbe: view.lastProbe.map { Probe($0, at: view.lastProbeAt.map(wall.text(of:))) },
            networkChangedAt: view.networkChangedAt.map(wall.text(of:)), tunnels: view.tunnels?.rawValue)
    }

    private static func routes(_ snapshot: LinkSnapshot) -> [DefaultRoute] {
        snapshot.defaultRoutes.map { route in
            DefaultRoute(
                family: route.family.rawValue,
                link: snapshot.links.first { $0.index == route.linkIndex }?.name,
                gateway: route.gateway, metric: route.metric)
        }
    }
}

extension ReachabilityDocument.Probe {
    init(_ result: ProbeResult, at: String?) {
        switch result {
        case .expected:
            self.init(result: "expected", status: nil, kind: nil, message: nil, at: at)
        case .portal(let status):
            self.init(result: "portal", status: status, kind: nil, message: nil, at: at)
        case .failed(let kind, let message):
            self.init(result: "failed", status: nil, kind: kind.rawValue, message: message, at: at)
        }
    }
}

/// An outage that is played.
package struct RehearsalDocument: Codable, Sendable {
    package var id: String
    package var host: String
    package var fault: String
    /// For `cut` the bytes of the response that come through, for `slow` those of each second.
    @OrNull package var afterBytes: Int?
    @OrNull package var status: Int?
    /// As a duration is written: `10m`.
    package var `for`: String
    package var startedAt: String
    package var endsAt: String
}

extension RehearsalDocument {
    init(_ rehearsal: Rehearsal, wall: WallTime) {
        let order = rehearsal.order
        self.init(
            id: String(rehearsal.number), host: order.host.description, fault: order.fault.rawValue, afterBytes: order.byteCount,
            status: order.status, for: DurationText.text(nanoseconds: Int(order.length.nanosecondsSaturating)),
            startedAt: wall.text(of: rehearsal.startedAt), endsAt: wall.text(of: rehearsal.endsAt))
    }
}
