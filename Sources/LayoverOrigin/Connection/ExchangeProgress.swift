import LayoverEngine
import LayoverHTTP
import NIOCore

/// How far the request of one attempt has got.
struct RequestSending {
    /// Bytes of the request, head and body, that the kernel has taken.
    var byteCount: Int64 = 0
    /// Bytes that wait in the channel because the kernel took no more.
    var waitingByteCount = 0
    /// Reads the body of the request. Nil: the request has no body.
    var reader: FramedBodyReader?
    /// Whether the permit to send has been asked for and is not there yet.
    var awaitsPermit = false
    /// Whether the body must not begin before a 100, the final head, or `continueAt`.
    var awaitsContinue = false
    /// When the body begins without a 100; nil before it could.
    var continueAt: NIODeadline?
    /// Whether the reader had nothing, so that the client owes us bytes.
    var awaitsBody = false
    var hasWantedBody = false
    /// Whether the rest of the body is not sent: its response has come, or the origin has closed.
    var isStopped = false
    /// Why the kernel took no more of the request. What the origin sent before is still read.
    var brokenBy: IOError?
    /// The same for what waits in the channel, which closes then and reports no end of the input.
    var channelBrokenBy: IOError?
    /// When something was last handed over.
    var lastAt = NIODeadline.uptimeNanoseconds(0)

    /// Whether the kernel has taken all of the request.
    var isComplete: Bool { byteCount > 0 && waitingByteCount == 0 && reader?.isComplete != false }

    /// Whether all that has come of the request is sent, and the client owes the rest.
    var isCaughtUp: Bool { awaitsBody && waitingByteCount == 0 && reader?.awaitsClient == true }

    /// Whether bytes of the response count: a byte of the request was handed over, or the kernel refused the first.
    var hasBegun: Bool { byteCount > 0 || brokenBy != nil }

    /// Whether the kernel is to take more of it.
    var isUnderWay: Bool { !isComplete && !isStopped }
}

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

/// The last piece of a success that came before its request was sent.
///
/// Its client must not take an upload for done while a part of it is in the proxy: that part may still be cut off. The piece is the whole
/// head where there is no body, the bytes that complete a Content-Length, or the end of any other body.
final class WithheldEnd {
    let head: ResponseHead?
    let body: ByteBuffer?
    var trailers: ByteBuffer?

    init(head: ResponseHead? = nil, body: ByteBuffer? = nil) { (self.head, self.body) = (head, body) }
}
