package import LayoverCore

/// An exchange in the pending set, as the engine reaches it. Its loop implements this; each call hops there.
package protocol HeldExchange: AnyObject, Sendable {
    /// Makes the next attempt.
    func start(_ trigger: AttemptTrigger)
    /// Aborts the attempt under way if its connection does not stand yet.
    func abandonConnecting()
    /// Answers the client: nothing more will be tried. `retryAfter`: an honest guess, where there is one.
    func end(_ end: EntryEnd, retryAfter: Duration?)
    /// Answers the client that a limit forbids to park its request.
    func refuse(limit: String, value: Int)
}
