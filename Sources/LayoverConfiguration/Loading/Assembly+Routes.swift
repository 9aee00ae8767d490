import LayoverCore

extension Assembly {
    /// Refuses a route if another route matches the same requests with the same rank.
    ///
    /// Only the names of the two routes would decide, and the second route would silently not apply.
    mutating func checkOverlaps() {
        let names = routes.keys.sorted()
        for (index, name) in names.enumerated() {
            guard let route = routes[name] else { continue }
            for other in names[..<index] {
                guard let overlap = routes[other]?.overlap(with: route) else { continue }
                refuse(
                    KeyAddress(section: .route(name), key: []).path,
                    "matches the same requests as \(KeyAddress(section: .route(other), key: []).path) (\(overlap)); give them "
                        + "different hosts, path prefixes or methods",
                    by: given.routeNames[name] ?? .standard)
            }
        }
    }
}

extension RouteSettings {
    /// The requests that both match with the same rank, in words. Nil: there are none.
    ///
    /// - SeeAlso: `RouteTable`, for the ranks.
    fileprivate func overlap(with other: RouteSettings) -> String? {
        guard matchesByTarget, other.matchesByTarget, host == other.host, pathPrefix == other.pathPrefix else { return nil }
        let place = "host \(host.map { Codec.hostPattern.write($0).text } ?? "null"), pathPrefix \(JSONValue.text(pathPrefix).text)"
        switch (methods, other.methods) {
        case (nil, nil): return place
        case (let own?, let others?):
            let shared = Set(own).intersection(others).sorted()
            return shared.isEmpty ? nil : "\(place), methods \(shared.joined(separator: " "))"
        case (nil, _), (_, nil): return nil
        }
    }

    /// Whether the route can match by the target of a request. A route with an upstream and without a host is reached only by its
    /// base URL, which contains the name of the route.
    private var matchesByTarget: Bool { host != nil || upstream == nil }
}
