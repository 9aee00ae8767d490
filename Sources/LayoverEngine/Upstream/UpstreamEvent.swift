package import LayoverCore
package import LayoverHTTP
package import NIOCore

/// Events of one attempt, from the worker to the loop. The last three end it; exactly one of them comes, also
/// after `cancel`, and nothing after it.
package enum UpstreamEvent: Sendable {
    /// The upstream is ready for body bytes and none are there. Only where the request expects a 100.
    case bodyWanted
    /// The rest of the body is not sent: an error response has come whose origin takes no more. Before that head, or later.
    case bodyUnwanted
    /// A 1xx head.
    case interim(ResponseHead)
    /// The final head. `sendings`: how often the request was sent within this attempt, normally 1.
    case head(ResponseHead, sendings: Int)
    case body(ByteBuffer)
    /// All of a success has come, and its request is still being sent. Its last piece is withheld: the client must not take an upload for
    /// done that may still be cut. The piece follows once the request is sent, then `end`; or the piece and `complete`; or `failed`.
    /// Not reported where the head itself is withheld.
    case endWithheld
    /// The response is complete, and the request is still being sent. `end` follows once it is sent, `failed` if it cannot be, or
    /// `end` without it where the response is an error. `trailers`: as in `end`, which has none then.
    case complete(trailers: ByteBuffer?)

    /// The response is complete. `trailers`: field lines, each with its CRLF; nil when there are none.
    case end(trailers: ByteBuffer?)
    /// The attempt failed; after a head, in the middle of the response.
    case failed(Failure)
    /// The connection of a `dial` is open; the receiver of the event owns the descriptor.
    case dialled(DialledSocket)
}

/// A connected stream socket that waits for its owner.
package struct DialledSocket: Sendable {
    package var descriptor: CInt
    package var remoteAddress: String?

    package init(descriptor: CInt, remoteAddress: String?) {
        self.descriptor = descriptor
        self.remoteAddress = remoteAddress
    }
}
