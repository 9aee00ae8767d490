import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

// Responses that come before their request was sent (decision 68).

extension Transfer {
    /// Whether libcurl has handed all of the request to the kernel.
    var isRequestSent: Bool {
        guard let reader = sending.reader, let attempt else { return true }
        var count: curl_off_t = 0
        layover_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &count)
        return reader.isComplete && count >= attempt.bodyBytesSent.load(ordering: .relaxed)
    }

    /// The final head has come before its request was sent.
    ///
    /// - Returns: Whether the head is withheld, because it is all of a success.
    func isEarly(_ head: ResponseHead) -> Bool {
        loop.touch(self)
        if receiving.isError, head.framing == .chunked, !receiving.isHTTP2 {
            // libcurl reports the end of chunks only when the request is sent.
            receiving.chunks = ResponseBodyDecoder(.chunked, limits: loop.options.responseLimits)
        }
        let hasNoBody = head.framing == .none || head.framing == .length(0)
        guard hasNoBody, !receiving.isError, !sending.isStopped, !easyOptions.isHeadWithBody else { return false }
        receiving.withheldHead = head
        receiving.isWithheld = true
        return true
    }

    /// DEBUGFUNCTION: a piece of the body as it came, its chunk framing included.
    func receivedRawBody(_ bytes: UnsafeRawBufferPointer) {
        guard receiving.chunks != nil else { return }
        var input = ByteBuffer(bytes: bytes)
        do throws(FramingError) {
            while let event = try receiving.chunks?.next(&input) {
                guard case .end = event else { continue }
                receiving.chunks = nil
                receiving.hasAllChunks = true
                loop.touch(self)
            }
        } catch {
            // libcurl judges them.
            receiving.chunks = nil
        }
    }

    /// The response is complete, and its request is still being sent. Not called for a success in chunks: libcurl decodes those, so only
    /// the end of the transfer shows that they are complete.
    func tellComplete() {
        guard let attempt, !receiving.isOver, !sending.isStopped, !isRequestSent else { return }
        receiving.isOver = true
        sending.lastAt = loop.now
        if receiving.isError {
            releaseBody()
            loop.outbox.add(.complete(trailers: nil), of: attempt)
        } else {
            receiving.isWithheld = true
            if receiving.withheldHead == nil { loop.outbox.add(.endWithheld, of: attempt) }
        }
        loop.noteDeadline(deadline)
    }

    /// When the end is passed on although the request is not sent; nil if no end is withheld.
    var withheldUntil: UInt64? {
        guard receiving.isOver, receiving.isWithheld, let timeouts = attempt?.request.timeouts else { return nil }
        // libcurl asks for more of the body only when its buffer is empty.
        if sending.isPaused, sending.reader?.awaitsClient == true { return sending.lastAt + loop.options.requestPauseMax.nanoseconds }
        // Without progress for `timeouts.idle` the attempt ends.
        if let idle = timeouts.idle, idle <= loop.options.endWithheldMax { return nil }
        return sending.lastAt + loop.options.endWithheldMax.nanoseconds
    }

    /// Passes the withheld end on before the request is sent. Either the client pauses, and may wait for the end. Or the origin takes no
    /// bytes; without a proxy the client would have the end by now.
    func passOnEnd() {
        passOnWithheld()
        if let attempt { loop.outbox.add(.complete(trailers: nil), of: attempt) }
        loop.noteDeadline(deadline)
    }

    func passOnWithheld() {
        receiving.isWithheld = false
        if let head = receiving.withheldHead, let attempt {
            receiving.withheldHead = nil
            loop.outbox.add(.head(head, sendings: sending.count), of: attempt)
        }
        releaseBody()
    }
}

// Responses by HTTP/2 that come before their request was sent (decision 93).

extension Transfer {
    /// libcurl 7.88.1 stops reading when it has as many bytes as Content-Length says, and then the WINDOW_UPDATE frames are not read that
    /// it needs for the rest of the request. The stream has an end of its own, and Layover compares the length.
    func readsToTheEndOfTheStream() {
        if !isRequestSent { easyOptions.setIgnoresLength(true) }
    }

    /// libcurl asked for a piece of the request, or has sent one.
    func sentPiece() {
        guard receiving.isHTTP2, receiving.framing != nil, !sending.mayHaveEnded else { return }
        sending.mayHaveEnded = true
        loop.readsAgain(self)
    }

    /// Makes libcurl read once the request is sent. Where the response had ended before, the stream is closed now, and libcurl 7.88.1
    /// finds that out only when it reads. Nothing more may come that would make it read.
    func readIfRequestEnded() {
        guard sending.mayHaveEnded else { return }
        sending.mayHaveEnded = false
        guard isRequestSent, descriptor >= 0 else { return }
        generation?.act(on: descriptor, events: Poller.readable)
    }

    /// Whether libcurl says why it cannot send: `stream 1 closed`. It says so only of streams that ended without an error.
    static func isStreamClosed(_ text: UnsafeRawBufferPointer) -> Bool {
        text.starts(with: streamRemark) && String(decoding: text, as: UTF8.self).hasSuffix(" closed\n")
    }

    private static let streamRemark = Array("stream ".utf8)
}

// What the origin sent before a send failed (decision 85). libcurl ends a transfer at a failed send and closes the connection; what has
// come by then would be lost.

extension Transfer {
    /// Bytes that are read after a failed send, at most. Default: 256 KiB.
    private static let leftoverByteCountMax = 256 << 10

    private static let failedSendRemark = Array("Send failure".utf8)
    private static let failedTLSSendRemark = Array("OpenSSL SSL_write".utf8)

    /// DEBUGFUNCTION: libcurl says that a send has failed, and the connection is still open.
    ///
    /// Under TLS the failed send is reported twice, first from within OpenSSL, which must not be called there.
    func sendFailed(_ remark: UnsafeRawBufferPointer) {
        guard remark.starts(with: easyOptions.isSecure ? Self.failedTLSSendRemark : Self.failedSendRemark) else { return }
        // An HTTP/2 connection carries other streams, too. While receiving is paused, libcurl holds bytes back that would be missing here.
        guard sending.count == 1, !receiving.isHTTP2, !receiving.isPaused, receiving.leftover == nil,
            attempt?.request.parentProxyUse == ParentProxyUse.none
        else { return }
        guard receiving.framing == nil ? !receiving.hasBegun : receiving.isError else { return }
        var bytes = ByteBuffer()
        while bytes.readableBytes < Self.leftoverByteCountMax, readLeftover(into: &bytes) {}
        receiving.leftover = bytes
    }

    /// - Returns: Whether there was something. It never waits.
    private func readLeftover(into bytes: inout ByteBuffer) -> Bool {
        var count = 0
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: 16 << 10) { memory in
            if !easyOptions.isSecure {
                count = recv(descriptor, memory.baseAddress, memory.count, CInt(MSG_DONTWAIT))
            } else if let tls = layover_get_tls(easy) {
                count = loop.options.readTLS?(OpaquePointer(tls), memory) ?? 0
            }
            count = max(0, count)
            return count
        }
        return count > 0
    }

    /// Passes on the error response that is in the leftover, or the rest of one that had begun before.
    ///
    /// - Returns: The end of the response. Nil if the response is not complete or is a success: a success does not count for a request
    ///   that was cut.
    func concludeLeftover(_ code: CURLcode) -> UpstreamEvent? {
        guard code == CURLE_SEND_ERROR, abortCause == nil, let leftover = receiving.leftover, let attempt else { return nil }
        if let framing = receiving.framing {
            guard case .length(let count) = framing, let rest = leftover.getSlice(at: 0, length: count - receiving.bodyByteCount) else {
                return nil
            }
            pendingBody.writeImmutableBuffer(rest)
            releaseBody()
            return .end(trailers: nil)
        }
        guard let response = errorResponse(in: leftover, of: attempt) else { return nil }
        // An origin that closes a kept connection may say 408 to no request at all (RFC 9110 section 15.5.9).
        if sending.wasOnReusedConnection, response.head.status == 408 { return nil }
        if attempt.wantsConnectionFacts { attempt.connectionFacts = connectionFacts }
        loop.outbox.add(.head(response.head, sendings: sending.count), of: attempt)
        pendingBody = response.body
        releaseBody()
        return .end(trailers: response.trailers)
    }

    private func errorResponse(
        in leftover: ByteBuffer, of attempt: UpstreamAttempt
    ) -> (head: ResponseHead, body: ByteBuffer, trailers: ByteBuffer?)? {
        var input = leftover
        var decoder = ResponseDecoder(limits: loop.options.responseLimits)
        decoder.reset(isHeadRequest: attempt.request.method == "HEAD")
        var response: ResponseHead?
        var body = ByteBuffer()
        do throws(FramingError) {
            while let event = try decoder.next(&input) {
                switch event {
                case .head(let head): if !head.isInterim { response = head }
                case .body(let bytes): body.writeImmutableBuffer(bytes)
                case .end(let trailers):
                    guard let response, response.status >= 300 else { return nil }
                    return (response, body, trailers)
                }
            }
        } catch {
            return nil
        }
        return nil
    }
}
