package import LayoverCore

extension RouteTable {
    /// The parent proxy through which a request goes; nil if it goes through none.
    ///
    /// - Parameter name: The route of the request.
    package func parentProxy(for origin: Origin, route name: String?) -> ParentProxy? {
        guard hasParentProxies else { return nil }
        switch name.flatMap({ route(named: $0) })?.way ?? .general {
        case .direct: return nil
        case .through(let parentProxy): return parentProxy
        case .general: return parentProxies.general.flatMap { parentProxies.isExcepted(origin) ? nil : $0 }
        }
    }
}

extension ParentProxyRules {
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
