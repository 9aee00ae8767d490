import LayoverCore
import LayoverEngine
import LayoverHTTP

/// A request that waits, and its route as the configuration has it now.
extension UpstreamRequest {
    /// Removes and sets what its route says, once more: a secret that was changed meanwhile goes with the next attempt.
    ///
    /// Does nothing where it says what it said. What a route adds, and what has a UUID in it, stays as it was at the first
    /// attempt: it comes beside what the client sent, and cannot be told from it.
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
    /// What a 407 means that can only come from the parent proxy; nil: it comes from the origin.
    func refusedCredentials(on connection: ConnectionFacts?) -> Failure? {
        guard parentProxyUse == .forward, purpose == .transfer else { return nil }
        return .parentProxyCredentialsRefused(remoteAddress: connection?.remoteAddress)
    }
}
