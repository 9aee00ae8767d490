import LayoverCore

/// Why we ended a transfer ourselves. libcurl then only reports that somebody did.
enum AbortCause: Sendable {
    /// The loop asked for it, or the worker shuts down.
    case cancelled
    /// The client's body will never be complete.
    case bodyBrokenOff
    /// `connect` has passed before the name was resolved, or `firstByte`, `idle` or `restStallMax` has passed.
    case timedOut
    /// Nothing came back from the peer for `deadPeer`.
    case peerDead
    /// The address of this machine that the connection used is gone.
    case addressGone
    /// The address guard said no.
    case addressRefused(FailureKind)
    /// libcurl needed a name that it had not been given.
    case nameMissing
    /// The name of the origin has no addresses.
    case nameFailed(NameFailure, name: String)
    /// The reused connection had bytes to read, or its end, before the request was sent.
    case connectionSpoilt
    /// libcurl wanted to send a request again that must not be sent twice, or whose body was not kept.
    case secondSending
    /// The origin refused the stream, and libcurl wanted to send the request again. That is for the policy to say.
    case streamRefused
    /// The permit to send was refused, because the store could not record the attempt. Nothing was sent.
    case notMarked
    /// libcurl wanted to send again after a complete response (417 to an Expect).
    case answeredAlready
    /// The response breaks the rules of HTTP/1, or is over a limit.
    case malformedResponse(FailureReason)
}

extension AbortCause? {
    var isNameMissing: Bool {
        if case .nameMissing? = self { return true }
        return false
    }
}
