import LayoverEngine

/// How far the request of one attempt has got.
struct SendingState {
    /// How often PREREQFUNCTION let the request go out.
    var count = 0
    /// Whether the origin refused the stream that the request was sent on (REFUSED_STREAM): it has not processed it (RFC 9113 section 8.7).
    var isRefused = false
    /// Whether CONNECT went out to a parent proxy, so that the connection to the proxy stood.
    var hasAskedParentProxy = false
    /// Bytes that went out before the request: those of CONNECT.
    var connectByteCount: Int64 = 0
    /// Connections that libcurl had made for the attempt when the request went out last.
    var connectionCount = 0
    /// Whether one of the sendings used a connection that had carried an earlier request.
    var wasOnReusedConnection = false
    /// The turn in which the request went out last.
    var turn: UInt64 = 0
    /// Reads the body of the request. Nil: the request has no body.
    var reader: FramedBodyReader?
    /// Whether libcurl was told to wait: for the reader, or for a 100.
    var isPaused = false
    /// Whether the pause is to end with the turn: a 100 or the final head came.
    var wantsResume = false
    /// Whether the body must not begin before a 100, the final head, or `continueAt`.
    var awaitsContinue = false
    /// When the body begins without a 100; nil before libcurl asked for it.
    var continueAt: UInt64?
    var hasWantedBody = false
    var peerSilence = PeerSilence()
    /// When the kernel is asked next whether the peer is alive; nil before a request went out.
    var peerCheckAt: UInt64?
    /// Whether the rest of the body is not sent, because of the response.
    var isStopped = false
    /// Whether the request may have ended in this turn, after the final head came as HTTP/2.
    var mayHaveEnded = false
    /// When something was last given to libcurl to send, on `MonotonicClock`.
    var lastAt: UInt64 = 0
}
