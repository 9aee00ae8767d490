package import LayoverCore
package import LayoverHTTP

/// An exchange in the pending set, as the engine reaches it. Its loop implements this; each call switches to it.
package protocol HeldExchange: AnyObject, Sendable {
    /// Makes the next attempt.
    ///
    /// - Parameter isForced: Whether a person took the risk that it acts twice.
    func start(_ trigger: AttemptTrigger, isForced: Bool)
    /// Aborts the attempt under way if its connection is not open yet.
    func abandonConnecting()
    /// Aborts the attempt. What has come of it counts as if the origin had broken off.
    ///
    /// - Parameter isCommanded: Whether a person said so: then the entry is kept.
    func abortAttempt(isCommanded: Bool)
    /// Drops the response in hand: the exchange is in the set, and makes another attempt later.
    func dropResponse()
    /// Delivers the response in hand: no further attempt is allowed.
    func deliverResponse(_ reason: Verdict.DeliverReason)
    /// The client has waited as long as it may, and accepts a ticket then (`respond-async`).
    func offerTicket()
    /// Its time without a client is over: finds out whether others with its key wait for its outcome (`OthersLookedFor`).
    func lookForOthers()
    /// A reload gave it this route and this policy, which count for later attempts, and for what follows the attempt under way.
    ///
    /// - Parameter routes: The table in which they were found; fields and parent proxy of the request are in it, too.
    func rerouted(to route: String?, _ policy: Policy, in routes: RouteTable)
    /// Answers the client: there is no further attempt. `retryAfter`: an estimate, if there is one.
    func end(_ end: EntryEnd, retryAfter: Duration?)
    /// Answers the client that its request cannot be parked because of a limit.
    func refuse(limit: String, value: Int)
    /// How far the attempt under way has got, read from any thread; nil where that is not known.
    var progress: AttemptProgress? { get }
    /// Passes the body of its request to `done`, which is called once, on any thread. Nil: there is no body any more.
    func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void)
}

extension HeldExchange {
    package func rerouted(to route: String?, _ policy: Policy, in routes: RouteTable) {}
    package var progress: AttemptProgress? { nil }
    package func showBody(_ done: @escaping @Sendable (HeldBody?) -> Void) { done(nil) }
}

/// The body of a request whose client waits, for the admin API.
package struct HeldBody: Sendable {
    /// Nil: the request has none. A body may still be arriving, and it may never be complete.
    package var body: CapturedBody?
    /// The fields of the request, as in `UpstreamRequest`.
    package var fields: RequestFields

    package init(body: CapturedBody?, fields: RequestFields) {
        self.body = body
        self.fields = fields
    }
}

/// Without its fields.
extension HeldBody: CustomStringConvertible {
    package var description: String { "\(body == nil ? "no body" : "a body"), \(fields)" }
}
