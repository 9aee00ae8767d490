import LayoverCore
import LayoverCrypto
import LayoverHTTP

/// Routes that only those may use who know their key.
extension RequestPlanner {
    /// Refuses a request that does not give the key of its route.
    ///
    /// - Parameter isInPath: Whether its path gave it.
    func checkKey(of route: Route, in head: RequestHead, isInPath: Bool) throws(Refusal) {
        guard let key = route.key else { return }
        let field = try single("Layover-Key", in: head)
        guard field.map({ Self.isEqual($0, key) }) ?? isInPath else {
            throw Refusal(
                403, "route_key",
                "The key of the route is missing or wrong. Use /.layover/route/<name>/~<key>/… or the field Layover-Key.",
                error: .httpRequestDenied)
        }
    }

    /// What stands behind the first segment of a path, if that is `~` and the key of the route. Nil: it is not.
    static func behindKey(of route: Route, in path: Substring) -> Substring? {
        guard let key = route.key, path.hasPrefix("/~") else { return nil }
        let rest = path.dropFirst(2)
        let segment = rest.prefix { $0 != "/" && $0 != "?" }
        return isEqual(segment, key) ? rest.dropFirst(segment.count) : nil
    }

    /// A target as it may be shown: without the key of a route.
    func shown(_ target: String) -> String {
        guard target.hasPrefix(Self.routePrefix) else { return target }
        let name = target.dropFirst(Self.routePrefix.count).prefix { $0 != "/" && $0 != "?" }
        let path = target.dropFirst(Self.routePrefix.count + name.count)
        guard path.hasPrefix("/~"), rules.routes.route(named: String(name))?.key != nil else { return target }
        return Self.routePrefix + name + "/~***" + path.dropFirst(2).drop { $0 != "/" && $0 != "?" }
    }

    /// Compares without telling by time how much of a guess was right.
    private static func isEqual(_ guess: some StringProtocol, _ key: Secret) -> Bool {
        ConstantTime.isEqual(Array(guess.utf8), Array(key.revealed.utf8))
    }
}
