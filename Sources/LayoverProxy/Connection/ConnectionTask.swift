import LayoverHTTP
import NIOCore

/// The work of a connection on the request whose turn it is. Confined to the connection's loop.
protocol ConnectionTask: AnyObject {
    /// Whether bytes of the request are still to come.
    var isReceivingRequest: Bool { get }
    /// Whether the client has its response, so that it may leave while the rest of its request is still being read. Default: no.
    var isDelivered: Bool { get }
    /// - Returns: Whether the client may go on.
    func receivedBody(_ bytes: ByteBuffer) -> Bool
    /// All of the body has come. A request without a body is complete from its start.
    func finishedRequest(trailers: FieldBlock?)
    /// The client sent something that is no body.
    func requestBroke(status: Int, detail: String)
    /// The client stopped in the middle of the body.
    func requestBodyStalled()
    /// The client has caught up with what was written.
    func clientTookBytes()
    /// The client closed its sending side.
    func clientClosedInput()
    /// The client's connection is gone.
    func clientLeft()
    /// Fills in what the access log says of its attempts. Default: there were none.
    func describe(in record: AccessRecord)
    /// The configuration was read anew. Default: nothing of it concerns a route.
    func reroute()
    /// The network changed: an attempt that may hang on the old one is made anew.
    func abandonIfFresh()
    /// The network changed: an upgrade that waits on a connection whose local address is gone ends. Workers know their own connections.
    /// Default: there is none.
    func endIfAddressIsGone()
    /// A person set the mode `offline`. Default: nothing of it concerns the network.
    ///
    /// - Parameter cuts: Whether an attempt under way is aborted, whatever it has sent.
    func wentOffline(cuts: Bool)
    /// The proxy is being stopped. Default: it is let finish.
    func drain()
    /// The drain deadline has passed: sends the final response to a client that has none yet. Default: nothing is sent.
    ///
    /// - Returns: True if that is done. False: `ProxyLoop.finalResponseGiven` follows, once.
    func cutOff() -> Bool
    /// The final response did not come in time after `cutOff`. Default: nothing is done.
    func finalResponseIsOverdue()
}

extension ConnectionTask {
    var isDelivered: Bool { false }
    func describe(in record: AccessRecord) {}
    func reroute() {}
    func endIfAddressIsGone() {}
    func wentOffline(cuts: Bool) {}
    func drain() {}
    func cutOff() -> Bool { true }
    func finalResponseIsOverdue() {}
}
