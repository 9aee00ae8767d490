import LayoverHTTP
import NIOCore

/// Facts about a request head that are needed for answering it.
struct ClientFacts {
    var isHead: Bool
    var isHTTP10: Bool
    var keepAlive: Bool
    var expectsContinue: Bool
    /// Whether `Expect: 100-continue` was passed on although there is no body: a 100 is the origin's answer to it.
    var passesContinueOn: Bool
    var isOnOwnOrigin: Bool
    /// Whether the client had its 200 for CONNECT before the origin was asked: another response would be read as the tunnel's.
    var isConnected: Bool
    /// What the origin's addresses are for a client that uses the base URL of a route; nil for all others.
    var addresses: RouteAddresses?

    /// - Parameter isIntercepted: Whether all paths of the connection are those of an origin.
    init(_ head: RequestHead, isIntercepted: Bool = false, isConnected: Bool = false) {
        isHead = head.method == .head
        isHTTP10 = head.version == .http10
        // Bytes behind a CONNECT are the tunnel's; after a refusal they must not be read as requests.
        keepAlive = head.keepAlive && head.method != .connect
        expectsContinue = head.expectsContinue
        passesContinueOn = head.passesExpectOn
        isOnOwnOrigin = head.isOnOwnOrigin && !isIntercepted
        self.isConnected = isConnected
    }

    /// The head of an origin's response as this client gets it, without the fields that the proxy adds.
    func passedOn(_ head: ByteBuffer) -> ByteBuffer {
        guard isOnOwnOrigin else { return head }
        return OwnOrigin.guarding(addresses?.rewriting(head) ?? head)
    }
}

/// How a response is framed for the client (RFC 9112 section 6.3).
enum ClientFraming {
    /// No body.
    case none
    case length
    case chunked
    /// Ends when the connection does.
    case close
}
