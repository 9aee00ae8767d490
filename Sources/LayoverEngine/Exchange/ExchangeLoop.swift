package import LayoverCore

/// One event loop of the proxy, as the engine reaches it. Each call hops there.
package protocol ExchangeLoop: AnyObject, Sendable {
    /// The gate of an origin has changed.
    func announce(_ origin: Origin, _ notice: OriginNotice)
    /// Whether an admin set the mode `offline`: then everything is parked.
    func setOffline(_ isOffline: Bool)
    /// The state of the network as a whole. `isAway`: answers of the resolver do not count.
    /// `isDoubted`: the next response of any origin has to be reported.
    func setNetwork(isAway: Bool, isDoubted: Bool)
    /// Makes an attempt of a ticket, which has no client here. Nil: there is no store to read it from.
    func replay(_ replay: TicketReplay) -> (any HeldExchange)?
    /// Use no connection and no name that is older than this call.
    func networkChanged()
}
