package import LayoverCore

/// One event loop of the proxy, as the engine reaches it. Each call hops there.
package protocol ExchangeLoop: AnyObject, Sendable {
    /// The gate of an origin has changed.
    func announce(_ origin: Origin, _ notice: OriginNotice)
    /// Whether an admin set the mode `offline`: then everything is parked.
    func setOffline(_ isOffline: Bool)
    /// The network as a whole is in another condition.
    func setNetwork(_ condition: NetworkCondition)
    /// Makes an attempt of a ticket, which has no client here. Nil: there is no store to read it from.
    func replay(_ replay: TicketReplay) -> (any HeldExchange)?
    /// Use no connection and no name that is older than this call.
    func networkChanged()
}
