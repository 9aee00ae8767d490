extension RouteTable {
    /// The route and the policy of a request that was accepted under an earlier configuration, or under this one
    /// before a restart. Its target stays what it was. A policy that is gone leaves it with the one of its route.
    ///
    /// - Parameters:
    ///   - path: Path and query; `/` for CONNECT.
    ///   - name: The route that it had.
    package func standing(
        origin: Origin, path: String, method: String, route name: String?, wish: PolicyWish
    ) -> (route: String?, policy: Policy) {
        var route = route(host: origin.host, path: path, method: method)
        // The request gave no key when it was accepted, so it comes to no route that wants one.
        if let found = route, found.key != nil, found.name != name { route = nil }
        // A base-URL route is found by its name: its requests do not look like it any more.
        if let name, let named = self.route(named: name), named.upstream?.origin == origin { route = named }
        var policy = wish.name.flatMap { policies[$0] } ?? route?.policy ?? standardPolicy
        if let mode = wish.mode { policy.mode = mode }
        return (route?.name, policy)
    }

    /// As above, for what is kept of a ticket.
    package func standing(of record: TicketRecord) -> (route: String?, policy: Policy) {
        let path = record.url.dropFirst(record.origin.description.utf8.count)
        return standing(
            origin: record.origin, path: path.isEmpty ? "/" : String(path), method: record.method,
            route: record.route, wish: record.ticket.wish)
    }
}
