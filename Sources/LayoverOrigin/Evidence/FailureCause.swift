import LayoverCore
import LayoverHTTP
import LayoverTLS

/// Why an attempt on a connection came to nothing.
enum FailureCause {
    /// The loop asked for it, or the worker shuts down.
    case cancelled
    /// The client's body will never be complete.
    case bodyBrokenOff
    /// `connect` has passed during the TLS handshake, or `firstByte`, `idle` or `restStallMax` has passed.
    case timedOut
    /// The permit to send was refused, because the store could not record the attempt. Nothing was sent.
    case notMarked
    /// TLS was not made, or broke.
    case notSecured(TLSError)
    /// The response breaks the rules of HTTP/1.
    case malformed(FramingError, isInHead: Bool)
    /// The address of this machine that the connection used is gone.
    case addressGone
    /// A success came, but the connection ended before the kernel had taken all of the request.
    case cut(status: Int, any Error)
    /// The connection ended, by this error. Nil: the origin closed the connection.
    case lost((any Error)?)
    /// Anything else, in the words of the one exchange that can meet it.
    case other(FailureReason)
}
