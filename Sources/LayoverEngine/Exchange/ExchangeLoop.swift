package import LayoverCore

/// The engine's way to one event loop of the proxy. Each call switches to it.
package protocol ExchangeLoop: AnyObject, Sendable {
    /// The gate of an origin has changed.
    func announce(_ origin: Origin, _ notice: OriginNotice)
    /// An admin set the mode. Under `offline` everything is parked.
    ///
    /// - Parameter tunnels: What happens to open tunnels; nil: the mode is not `offline`.
    func setOffline(_ tunnels: OfflineTunnels?)
    /// The rehearsals under way are others now.
    func setRehearsals(_ current: [Rehearsal])
    /// The network as a whole is in another condition.
    func setNetwork(_ condition: NetworkCondition)
    /// Makes an attempt of a ticket, which has no client here. Nil: there is no store to read it from.
    func replay(_ replay: TicketReplay) -> (any HeldExchange)?
    /// Use no connection and no name that is older than this call.
    func networkChanged()
    /// Returns once the calls before have taken effect.
    func caughtUp() async
}

extension ExchangeLoop {
    package func setRehearsals(_ current: [Rehearsal]) {}
    package func caughtUp() async {}
}

/// An attempt of a ticket: the facts that its loop needs besides those in the store.
package struct TicketReplay: Sendable {
    package var request: RequestDescription
    /// Its wish is the policy in the request's own fields.
    package var ticket: TicketFacts
    package var trigger: AttemptTrigger
    package var policy: Policy
    package var route: String?
    /// The table in which the engine found its route, its policy and its parent proxy. That of the loop may be another one.
    package var routes: RouteTable
    package var counts: AttemptCounts
    /// Whether a person accepted the risk that the request acts twice.
    package var isForced: Bool
    /// Whether a person has seen the response to `preflight` and retried the request all the same.
    package var skipsPreflight: Bool

    package var id: EntryID { request.id }
}

extension TicketReplay {
    /// An attempt of a ticket as its entry stands.
    init(_ entry: Entry, _ ticket: TicketFacts, _ trigger: AttemptTrigger, routes: RouteTable) {
        self.init(
            request: entry.request, ticket: ticket, trigger: trigger, policy: entry.policy, route: entry.route, routes: routes,
            counts: entry.counts, isForced: entry.isForced,
            skipsPreflight: trigger == .admin && entry.attempts.records.last?.verdict == .fail(.preflight))
    }
}
