package import LayoverCore

/// An exchange in the pending set, as the engine reaches it. Its loop implements this; each call hops there.
package protocol HeldExchange: AnyObject, Sendable {
    /// Makes the next attempt.
    ///
    /// - Parameter isForced: Whether a person took the risk that it acts twice.
    func start(_ trigger: AttemptTrigger, isForced: Bool)
    /// Aborts the attempt under way if its connection does not stand yet.
    func abandonConnecting()
    /// Throws away the answer in hand: the exchange is in the set, and asks for another one later.
    func dropAnswer()
    /// Delivers the answer in hand: nothing more may be tried.
    func deliverAnswer(_ reason: Verdict.DeliverReason)
    /// Its client has waited as long as it may, and said that it takes a ticket then.
    func offerTicket()
    /// Answers the client: nothing more will be tried. `retryAfter`: an honest guess, where there is one.
    func end(_ end: EntryEnd, retryAfter: Duration?)
    /// Answers the client that a limit forbids to park its request.
    func refuse(limit: String, value: Int)
    /// Shows the body of its request. `done` is called once, on any thread; nil: there is nothing to show (any more).
    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void)
}

extension HeldExchange {
    package func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) { done(nil) }
}
