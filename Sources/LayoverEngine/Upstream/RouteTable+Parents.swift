package import LayoverCore

extension RouteTable {
    /// The parent proxy through which a request goes; nil: none.
    ///
    /// - Parameter name: The route of the request.
    package func parent(for origin: Origin, route name: String?) -> ParentProxy? {
        guard hasParents else { return nil }
        switch name.flatMap({ route(named: $0) })?.way ?? .general {
        case .direct: return nil
        case .through(let parent): return parent
        case .general: return parents.general.flatMap { parents.isExcepted(origin) ? nil : $0 }
        }
    }
}

extension ParentRules {
    /// Whether an origin is reached without the general parent proxy. No name is resolved for it.
    func isExcepted(_ origin: Origin) -> Bool {
        guard !exceptions.isEmpty else { return false }
        let host = origin.host.hasSuffix(".") ? String(origin.host.dropLast()) : origin.host
        let address = NetworkAddress(anySpelling: host)
        return exceptions.contains { exception in
            switch exception {
            case .all: true
            case .domain(let name): host == name || address == nil && host.hasSuffix("." + name)
            case .below(let name): address == nil && host.hasSuffix("." + name)
            case .network(let network): address?.isCovered(by: network) ?? false
            }
        }
    }
}
