import NIOCore

/// How far the response of one attempt has got.
struct ResponseReceiving {
    /// Whether some byte of a response came.
    var hasBegun = false
    /// Whether the final head came, and was passed on.
    var isAnswered = false
    /// Whether the status of the response is not that of a success: 300 or more.
    var isError = false
    /// Whether all of the response came. Set only while its request is still being sent.
    var isOver = false
    /// Bytes of the body that are still to come; of no meaning where there is no Content-Length.
    var bodyBytesLeft = Int.max
    /// Not nil while the end of a success waits for its request.
    var withheld: WithheldEnd?
    /// Whether the connection is of no use behind the response.
    var endsConnection = false
    /// Whether `receive` is at work: the recipient may call from within.
    var isReceiving = false
    /// Whether the recipient is to take bytes before more are decoded and read.
    var isPaused = false
    /// What ended the connection while receiving was paused. It ends the attempt unless what came before completes the response.
    var brokenBy: FailureCause?
    /// When something arrived last.
    var lastAt = NIODeadline.uptimeNanoseconds(0)
}
