import LayoverCore

/// The base URL of a route by which a request came.
struct BaseURLUse {
    let route: Route
    let upstream: Route.Upstream
    let form: BaseURLForm

    /// The path at the proxy in place of the URL of the upstream: `/.layover/route/{name}`, followed by `/~{key}` if the client gave
    /// the key in the path.
    var place: String {
        let place = RequestPlanner.routePrefix + route.name
        guard form == .keyed, let key = route.key else { return place }
        return place + "/~" + key.revealed
    }
}
