package import LayoverCore

/// One event loop of the proxy, as the engine reaches it. Each call hops there.
package protocol ExchangeLoop: AnyObject, Sendable {
    /// How matters stand with an origin.
    func announce(_ origin: Origin, _ notice: OriginNotice)
    /// Whether an admin said offline: then everything is parked.
    func setOffline(_ isOffline: Bool)
    /// What the network as a whole looks like. `isAway`: nobody's word about names is to be believed.
    /// `isDoubted`: the next answer of any origin is worth telling.
    func setNetwork(isAway: Bool, isDoubted: Bool)
    /// Makes an attempt of a ticket, which has no client here. Nil: there is no store to read it from.
    func replay(_ replay: TicketReplay) -> (any HeldExchange)?
    /// Use no connection and no name that is older than this call.
    func networkChanged()
}
