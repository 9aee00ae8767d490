package import LayoverCore
import LayoverText

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

    /// The route of an entry by this table, with its parent proxy.
    func foundRouteWithParentProxy(of entry: Entry) -> FoundRoute {
        var found = foundRoute(of: entry)
        found.parentProxyGate = parentProxy(for: entry.origin, route: found.route)?.gate
        return found
    }

    /// Tickets of an earlier run, with their routes of now.
    ///
    /// - Parameter clock: That of the store.
    func restored(_ records: [TicketRecord], ended: [EntryID: EntryState], by clock: TicketClock, now: Timestamp) -> TicketsRestored {
        let shift = -clock
        let known = records.indices.map { index in
            var record = records[index].shifted(by: shift)
            let found = foundRoute(of: record)
            record.route = found.route
            // A wall clock that was set back while the machine was off must not make a ticket wait longer than its delay.
            let delay = record.standing.dueAt - (record.standing.lastFailureAt ?? record.standing.parkedAt)
            record.standing.dueAt = min(record.standing.dueAt, now + delay)
            return (record: record, policy: found.policy)
        }
        var parentProxyGates: [EntryID: Origin] = [:]
        if hasParentProxies {
            for (record, _) in known { parentProxyGates[record.id] = parentProxy(for: record.origin, route: record.route)?.gate }
        }
        return TicketsRestored(known, ended: ended, parentProxyGates: parentProxyGates)
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
