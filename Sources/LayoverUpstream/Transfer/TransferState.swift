import LayoverEngine
import LayoverHTTP
import NIOCore

/// How far the name of one attempt's origin has got.
struct ResolvingState {
    /// When the attempt, or its second sending, began, on `MonotonicClock`: names count towards `connect`.
    var beganAt: UInt64 = 0
    /// When waiting for the name ends; nil when nobody waits.
    var endsAt: UInt64?
    /// True once libcurl got the attempt. Before that, the facts in the easy handle may be those of an earlier attempt.
    var wasAdded = false
    /// How often libcurl asked for a name that it had not been given.
    var missCount = 0
}

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

/// How far the response of one attempt has got.
struct ReceivingState {
    /// Nil until the final head is complete.
    var framing: ResponseFraming?
    /// Whether some line of a head came.
    var hasBegun = false
    /// Whether the status of the response is not that of a success: 300 or more.
    var isError = false
    /// Whether all of the response is here, and its request is still being sent.
    var isOver = false
    /// Whether the last piece of a success is withheld until its request is sent.
    var isWithheld = false
    /// Not nil where that piece is the head, because there is no body.
    var withheldHead: ResponseHead?
    /// Finds the end of a chunked error response before libcurl reports it; nil if that is not needed or not possible.
    var chunks: ResponseBodyDecoder?
    /// Whether all chunks of an error response have come.
    var hasAllChunks = false
    /// Whether a response without a length ended with TLS, but without close_notify: it may have been cut off.
    var isEndUnclosed = false
    /// The bytes that had come when a send failed and libcurl had not read them; nil: nobody looked for such bytes.
    var leftover: ByteBuffer?
    /// Whether the response came as HTTP/2.
    var isHTTP2 = false
    /// Whether libcurl said that it can send no more because the stream has ended without an error.
    var isStreamEnded = false
    var bodyByteCount = 0
    /// Whether libcurl waits for the end of the connection although the length is known.
    var isEndedByUs = false
    /// Whether no piece of the body is taken, because the loop has too much.
    var isPaused = false
    /// When something arrived last, on `MonotonicClock`.
    var lastAt: UInt64 = 0
}
