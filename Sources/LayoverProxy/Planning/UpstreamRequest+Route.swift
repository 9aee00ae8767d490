import LayoverCore
import LayoverEngine
import LayoverHTTP

/// A request that waits, and its route as the configuration has it now.
extension UpstreamRequest {
    /// Removes and sets the fields of the current route again, so that the next attempt carries a secret that was changed.
    ///
    /// Does nothing if the route's fields have not changed. Fields that a route adds, and values with a UUID, stay as at the first attempt.
    /// An added field stands beside those of the client and cannot be told from them.
    mutating func takeFields(of route: Route?) {
        guard let route else { return }
        var set = RequestFields()
        for field in route.setFields where !field.value.revealed.contains("~uuid~") { set.append(field.name, field.value.revealed) }
        let added = Set(route.addFields.map { $0.name.lowercased() })
        let removed = Set(route.removeFields.map { $0.lowercased() }).subtracting(added)
        let replaced = Set(set.map { $0.name.lowercased() })
        var kept = RequestFields()
        var before = RequestFields()
        var hasRemoved = false
        for field in fields {
            let name = field.name.lowercased()
            if removed.contains(name) {
                hasRemoved = true
            } else if replaced.contains(name) {
                before.append(field)
            } else {
                kept.append(field)
            }
        }
        guard hasRemoved || before != set else { return }
        for field in set { kept.append(field) }
        fields = kept
    }
}

extension UpstreamRequest {
    /// The failure for a 407 of the parent proxy. Nil: the 407 comes from the origin.
    func refusedCredentials(on connection: ConnectionFacts?) -> Failure? {
        guard parentProxyUse == .forward, purpose == .transfer else { return nil }
        return .parentProxyCredentialsRefused(remoteAddress: connection?.remoteAddress)
    }
}
