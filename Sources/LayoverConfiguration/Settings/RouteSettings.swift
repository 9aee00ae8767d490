import LayoverCore

/// A route as the file spells it, with the keys of later versions.
struct RouteSettings: Sendable, Hashable {
    /// Nil: every host.
    var host: Route.HostPattern?
    var pathPrefix = "/"
    var methods: [String]?
    var policy = Policy.standard.name
    var upstream: Route.Upstream?
    var setFields: [String: String] = [:]
    var addFields: [String: String] = [:]
    var removeFields: [String] = []
    var intercept = false
    var interceptFallback = false
    var timeouts = Route.Timeouts()
    /// Whether `Prefer` is Layover's to honour.
    var async = true
    var http2 = false
    var allowAddresses: [String] = []

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
        route.allowsAsync = async
        route.allowAddresses = allowAddresses
        return route
    }

    /// Sorted, because an object has no order of its own and the wire should not change from start
    /// to start.
    private static func fields(_ members: [String: String]) -> [Route.Field] {
        members.sorted { $0.key < $1.key }.map { Route.Field(name: $0.key, value: $0.value) }
    }
}
