import LayoverHTTP

/// How far the response of one attempt has got.
struct ReceivingState {
    /// Nil until the final head is complete.
    var framing: ResponseFraming?
    /// Whether some line of a head came.
    var hasBegun = false
    /// Whether its status is not that of a success: 300 or more.
    var isError = false
    /// Whether all of the response is here, and its request is still being sent.
    var isOver = false
    /// Of the head that is being received, as it came.
    var headByteCount = 0
    var headLineCount = 0
    /// Whether it came as HTTP/2.
    var isHTTP2 = false
    var bodyByteCount = 0
    /// Whether libcurl waits for the end of the connection although the length is known.
    var isEndedByUs = false
    /// The turn in which a piece of the body came last.
    var bodyTurn: UInt64 = 0
    var isPaused = false
    /// When something arrived last, on `MonotonicClock`.
    var lastAt: UInt64 = 0
}
