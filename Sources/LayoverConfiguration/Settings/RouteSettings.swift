import LayoverCore

/// A route as the file spells it, with the keys of later versions.
struct RouteSettings: Sendable, Hashable {
    /// The hosts of the route. Nil: every host.
    var host: Route.HostPattern?
    var pathPrefix = "/"
    var methods: [String]?
    var policy = Policy.standard.name
    var upstream: Route.Upstream?
    var setFields: [String: Secret] = [:]
    var addFields: [String: Secret] = [:]
    var removeFields: [String] = []
    var intercept = false
    var interceptFallback = false
    var unclosedTLS = Route.UnclosedTLS.cut
    var timeouts = Route.Timeouts()
    /// Rule for `Prefer: respond-async`. Nil: the rule of the policy.
    var async: Policy.AsyncRule?
    var http2 = false
    var allowAddresses: [String] = []
    var key: Secret?
    /// How the route's upstream is reached. Nil: as an origin without a route.
    var upstreamProxy: Route.Way?

    func route(named name: String, policy: Policy) -> Route {
        var route = Route(name: name, policy: policy)
        route.host = host ?? .any
        route.pathPrefix = pathPrefix
        route.methods = methods.map { Set($0) }
        route.upstream = upstream
        route.setFields = Self.fields(setFields)
        route.addFields = Self.fields(addFields)
        route.removeFields = removeFields
        route.timeouts = timeouts
        route.async = async
        route.allowAddresses = allowAddresses
        route.supportsHTTP2 = http2
        route.key = key
        route.intercepts = intercept
        route.interceptFallback = interceptFallback
        route.unclosedTLS = unclosedTLS
        route.way = upstreamProxy ?? .general
        return route
    }

    /// What is wrong with the route on this listener. Nil: the route can be used.
    ///
    /// A browser sends no Sec-Fetch-Site to a plain-http address of a LAN, and `<img>` no Origin. So any page that is open on
    /// that LAN could use what the route sets, and only a key that the page does not know keeps it out.
    func complaint(on listen: ListenAddress) -> String? {
        guard key == nil, !listen.isLoopback, let credentialField else { return nil }
        return "the route sets \(credentialField), and \(listen) is reachable from other machines, so a key is required"
    }

    /// The name of a field that the route writes and that may hold a credential. Nil: the route writes no such field.
    private var credentialField: String? {
        let names = Array(setFields.keys) + Array(addFields.keys)
        // `Idempotency-Key` proves nothing.
        return names.filter { CredentialFields.mayBeOne($0) && $0.lowercased() != "idempotency-key" }.min()
    }

    /// Sorted, because an object has no order of its own and the wire should not change from start
    /// to start.
    private static func fields(_ members: [String: Secret]) -> [Route.Field] {
        members.sorted { $0.key < $1.key }.map { Route.Field(name: $0.key, value: $0.value.revealed) }
    }
}
