import LayoverCore

extension Assembly {
    /// Refuses a route that matches requests which another one matches with the same rank: only their names would decide, and what
    /// the second one says would silently not apply.
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

    /// Without a host, a route with an upstream is only reached by its base URL, which has its name.
    private var matchesByTarget: Bool { host != nil || upstream == nil }
}
