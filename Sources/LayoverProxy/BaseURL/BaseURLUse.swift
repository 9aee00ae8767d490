import LayoverCore

/// That a request came by the base URL of a route.
struct BaseURLUse {
    let route: Route
    let upstream: Route.Upstream
    let form: BaseURLForm

    /// What stands at the proxy for the upstream: `/.layover/route/{name}`, with the key behind it where the client gives it there.
    var place: String {
        let place = RequestPlanner.routePrefix + route.name
        guard form == .keyed, let key = route.key else { return place }
        return place + "/~" + key.revealed
    }
}
