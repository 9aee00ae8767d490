import CCurl
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
        guard hasNoBody, !receiving.isError, !sending.isStopped, !isHeadWithBody else { return false }
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
        if sending.isPaused { return sending.lastAt + loop.options.requestPauseMax.nanoseconds }
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
