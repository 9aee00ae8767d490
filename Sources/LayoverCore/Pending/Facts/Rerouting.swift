/// A reload under way: the tickets find their routes and policies in the new configuration, in portions, because there may be very many.
///
/// Rule: no ticket starts an attempt under the policy of before. A ticket whose turn comes before its portion finds its route at
/// that moment (`PendingSet.mayGo`), so one that must not be sent twice any more is not sent. What becomes of an attempt under way is
/// decided by the policy that its ticket has by then, or when its portion comes.
struct Rerouting: Sendable {
    /// Counts reloads, so that a ticket shows whether it has its route of now.
    let number: UInt8
    private let find: @Sendable (TicketRecord) -> TicketRoute
    /// The entries that were there when the reload began, in the order of their arrival.
    private let ids: [ArrivalOrder.Item]
    private var next = 0
    private var policies = SharedPolicies()

    init(number: UInt8, _ ids: [ArrivalOrder.Item], find: @escaping @Sendable (TicketRecord) -> TicketRoute) {
        self.number = number
        self.ids = ids
        self.find = find
    }

    var isOver: Bool { next == ids.count }

    mutating func takePortion(_ count: Int) -> ArraySlice<ArrivalOrder.Item> {
        defer { next = min(next + count, ids.count) }
        return ids[next..<min(next + count, ids.count)]
    }

    /// The route of a ticket in the new configuration.
    mutating func route(of record: TicketRecord, now: Timestamp) -> NewRoute {
        let found = find(record)
        let left = found.policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) }
        return NewRoute(
            route: found.route, policy: policies.shared(found.policy), automaticLeft: left,
            parentProxyGate: found.parentProxyGate, now: now)
    }
}

/// The route, policy and parent proxy of a ticket by the present configuration.
package struct TicketRoute: Sendable {
    package var route: String?
    package var policy: Policy
    /// The parent proxy, by its gate.
    package var parentProxyGate: Origin?

    package init(route: String?, policy: Policy, parentProxyGate: Origin?) {
        self.route = route
        self.policy = policy
        self.parentProxyGate = parentProxyGate
    }
}
