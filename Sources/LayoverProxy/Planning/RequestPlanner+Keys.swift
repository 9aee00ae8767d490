import LayoverCore
import LayoverHTTP
import LayoverSystem

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

    /// The path behind the first segment, if that segment is `~` and the key of the route. Nil: it is another segment.
    ///
    /// `%7E` is the same as `~` (RFC 3986 section 6.2.2.2), and some clients write it.
    static func behindKey(of route: Route, in path: Substring) -> Substring? {
        guard let key = route.key, path.hasPrefix("/") else { return nil }
        let segment = path.dropFirst().prefix { $0 != "/" && $0 != "?" }
        let plain = segment.replacing("%7E", with: "~").replacing("%7e", with: "~")
        guard plain.hasPrefix("~"), isEqual(plain.dropFirst(), key) else { return nil }
        return path.dropFirst(1 + segment.count)
    }

    /// Compares without telling by time how much of a guess was right.
    private static func isEqual(_ guess: some StringProtocol, _ key: Secret) -> Bool {
        ConstantTime.isEqual(Array(guess.utf8), Array(key.revealed.utf8))
    }
}
