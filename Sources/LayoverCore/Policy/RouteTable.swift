import LayoverText

/// All routes and policies of one configuration, ready to be asked.
///
/// The most specific route wins: an exact host over a wildcard over any, then the longer path, then
/// methods named over any method, then the order of names.
package struct RouteTable: Sendable {
    /// Policies by name, the built-in ones included.
    package let policies: [String: Policy]
    /// Routes from the most to the least specific.
    package let routes: [Route]
    private let byName: [String: Route]
    /// Hosts that are intercepted, from the most to the least specific.
    private var intercepted: [Route.HostPattern]
    /// The addresses among the hosts of routes and of interception, each as it is spelled there.
    private var spellings: [NetworkAddress: String] = [:]
    /// Those whose connections become tunnels where clients reject our certificate.
    private let relayedIfRejected: [Route.HostPattern]
    /// Which requests without a route of their own way go through a parent proxy.
    package let parentProxies: ParentProxyRules
    /// Grows with each reload, so that of two tables the newer one is known (`Engine.adopt`).
    package var number = 0

    /// - Parameter webhook: Where notifications go. Their route is found by its name only: no other request is for it.
    package init(
        policies: [String: Policy] = [:], routes: [Route] = [], webhook: Webhook? = nil, parentProxies: ParentProxyRules = .init()
    ) {
        self.parentProxies = parentProxies
        hasParentProxies = parentProxies.general != nil || routes.contains { $0.way != .general }
        var policies = policies
        for builtIn in Policy.builtIns where policies[builtIn.name] == nil { policies[builtIn.name] = builtIn }
        self.policies = policies
        standardPolicy = policies[Policy.standard.name] ?? .standard
        self.routes = routes.sorted(by: Self.isMoreSpecific)
        // Without a host it would be every host, which nobody may say by leaving something out.
        intercepted = self.routes.filter { $0.intercepts && $0.host != .any }.map(\.host)
        relayedIfRejected = self.routes.filter { $0.intercepts && $0.interceptFallback && $0.host != .any }.map(\.host)
        var byName = Dictionary(routes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if let webhook { byName[Route.notificationsName] = .notifications(to: webhook) }
        self.byName = byName
        spellings = Self.spellings(in: self.routes.map(\.host))
    }

    /// The rules for requests that no route is for.
    package let standardPolicy: Policy

    /// Whether any request goes through a parent proxy, so that the fast path need not look.
    package let hasParentProxies: Bool

    /// Whether any route could match, so that the fast path need not look at the path at all.
    package var isEmpty: Bool { routes.isEmpty }

    /// Whether any host is intercepted.
    package var hasInterceptions: Bool { !intercepted.isEmpty }

    /// Whether CONNECT to a host is intercepted. What its route says of paths and methods is for the requests inside.
    package func intercepts(_ host: String) -> Bool {
        let host = spelledAsInRules(host)
        return intercepted.contains { $0.matches(host) }
    }

    /// Whether connections to an intercepted host become tunnels while clients reject our certificate.
    package func relaysRejected(_ host: String) -> Bool {
        let host = spelledAsInRules(host)
        return relayedIfRejected.contains { $0.matches(host) }
    }

    /// The same, which intercepts more hosts. What their routes say stays.
    package func intercepting(_ hosts: [Route.HostPattern]) -> RouteTable {
        var table = self
        table.intercepted += hosts
        table.spellings = Self.spellings(in: routes.map(\.host) + table.intercepted)
        return table
    }

    package func route(named name: String) -> Route? { byName[name] }

    /// The host as the rules spell it, where both are spellings of one address: `127.1` and `0x7f000001` are `127.0.0.1`.
    private func spelledAsInRules(_ host: String) -> String {
        if spellings.isEmpty { return host }
        return NetworkAddress(anySpelling: host).flatMap { spellings[$0] } ?? host
    }

    private static func spellings(in hosts: [Route.HostPattern]) -> [NetworkAddress: String] {
        let addresses = hosts.compactMap { host in
            if case .exact(let name) = host { NetworkAddress(anySpelling: name).map { ($0, name) } } else { nil }
        }
        return Dictionary(addresses, uniquingKeysWith: { first, _ in first })
    }

    /// Names of all fields that routes set or add, each once.
    package var writtenFields: [String] {
        Set(routes.flatMap { ($0.setFields + $0.addFields).map(\.name) }).sorted()
    }

    package func route(host: String, path: some StringProtocol, method: String) -> Route? {
        let host = spelledAsInRules(host)
        return routes.first { $0.matches(host: host, path: path, method: method) }
    }

    private static func isMoreSpecific(_ one: Route, _ other: Route) -> Bool {
        let (left, right) = (rank(one), rank(other))
        return left == right ? one.name < other.name : left > right
    }

    /// Compared as a tuple, so the parts must stand in the order of their weight.
    private static func rank(_ route: Route) -> (Int, Int, Int, Int) {
        let (kind, length) =
            switch route.host {
            case .exact: (2, 0)
            case .below(let parent): (1, parent.utf8.count)
            case .any: (0, 0)
            }
        return (kind, length, route.pathPrefix.utf8.count, route.methods == nil ? 0 : 1)
    }
}

extension RouteTable {
    /// The route and the policy of a request that was accepted under an earlier configuration, or under this one
    /// before a restart. Its target stays what it was. A policy that is gone leaves it with the one of its route.
    ///
    /// - Parameters:
    ///   - path: Path and query; `/` for CONNECT.
    ///   - name: The route that it had.
    package func foundRoute(
        origin: Origin, path: String, method: String, route name: String?, wish: PolicyWish
    ) -> FoundRoute {
        var route = route(host: origin.host, path: path, method: method)
        // The request gave no key when it was accepted, so it comes to no route that wants one.
        if let found = route, found.key != nil, found.name != name { route = nil }
        // A base-URL route is found by its name: its requests do not look like it any more.
        if let name, let named = self.route(named: name), named.upstream?.origin == origin { route = named }
        var policy = wish.name.flatMap { policies[$0] } ?? route?.policy ?? standardPolicy
        if let mode = wish.mode { policy.mode = mode }
        return FoundRoute(route: route?.name, policy: policy)
    }

    /// As above, for an entry of the pending set, or for the record of a ticket.
    package func foundRoute(of one: some StandingRequest) -> FoundRoute {
        let request = one.request
        // CONNECT is shown without a scheme, so nothing is left of it.
        let path = request.url.dropFirst(request.origin.description.utf8.count)
        return foundRoute(
            origin: request.origin, path: path.isEmpty ? "/" : String(path), method: request.method, route: one.route, wish: one.wish)
    }
}

/// The route by which a request goes, and the policy that it has then.
package struct FoundRoute: Sendable {
    /// The name of the route; nil where none fits.
    package let route: String?
    package let policy: Policy
    /// The parent proxy, by its gate, once that was looked up.
    package var parentProxyGate: Origin?
}
