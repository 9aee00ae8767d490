import LayoverHTTP
import NIOCore

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
    /// The turn in which a piece of the body came last.
    var bodyTurn: UInt64 = 0
    var isPaused = false
    /// When something arrived last, on `MonotonicClock`.
    var lastAt: UInt64 = 0
}
