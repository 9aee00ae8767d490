import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

/// The upstream's answer, from the worker to the client.
extension ProxyExchange {
    /// Bytes that the worker may be ahead of the client when it goes on after a pause. Default: 128 KiB.
    private static let resumeBelow = 128 << 10

    func passOn(interim head: ResponseHead) {
        if head.status == 100 { return sendContinue() }
        // HTTP/1.0 knows no interim answers (RFC 9110 section 15.2).
        guard !client.isHTTP10, phase == .attempting, let connection else { return }
        var out = head.bytes
        out.writeStaticString("\r\n")
        connection.write(out)
    }

    func received(_ head: ResponseHead, sendings: Int) {
        if sendings > 1 { rules.sentAgainWithinAttempt(sendings - 1) }
        guard phase != .attempting || !retries(head) else { return }
        tellOriginAnswered(status: head.status, .deliver(.answered))
        // Its client has left, but others may have asked for the same.
        if phase == .ended { keepForOthers(head) }
        guard phase == .attempting else { return }
        passOn(head)
    }

    func passOn(_ head: ResponseHead) {
        phase = .delivering
        if caching != nil { keepInCache(head) }
        keepForOthers(head)
        guard let connection else { return }
        loop.metrics.countAnswer(status: head.status)
        framing = Self.framing(of: head, for: client)
        saysClose = !keepsAlive
        var out = client.isOnOwnOrigin ? OwnOrigin.guarding(head.bytes) : head.bytes
        writeOwnFields(after: head, into: &out)
        connection.write(out)
    }

    /// The engine hears of answers only from origins that were in trouble.
    func tellOriginAnswered(status: Int, _ verdict: Verdict) {
        if let entry {
            record(verdict, status: status)
            loop.engine.post(.answered(entry, takeTally()))
        } else if loop.notice(for: request.origin) != nil {
            loop.engine.post(.originAnswered(request.origin))
        } else if loop.isNetworkDoubted, !request.origin.isLoopback {
            loop.networkAnswered()
        }
    }

    private static func framing(of head: ResponseHead, for client: ClientFacts) -> AnswerFraming {
        switch head.framing {
        case .none: .none
        case .length: .length
        case .chunked, .untilClose: client.isHTTP10 ? .close : .chunked
        }
    }

    func writeOwnFields(after head: ResponseHead, into out: inout ByteBuffer) {
        out.writeStaticString("Via: ")
        out.writeBytes(loop.planner.viaMember)
        out.writeStaticString("\r\n")
        if entry != nil {
            let waited = (loop.engine.clock.now() - createdAt).inSeconds
            let tenths = Int((waited * 10).rounded())
            out.writeString(
                "Proxy-Status: \(loop.rules.identity); details=\"attempts=\(rules.attemptCount) waited=\(tenths / 10).\(tenths % 10)s\"\r\n"
            )
        }
        switch framing {
        case .none, .close: break
        case .length:
            out.writeStaticString("Content-Length: ")
            out.writeDecimal(head.contentLength ?? 0)
            out.writeStaticString("\r\n")
        case .chunked: out.writeStaticString("Transfer-Encoding: chunked\r\n")
        }
        if saysClose { out.writeStaticString("Connection: close\r\n") }
        out.writeStaticString("\r\n")
    }

    /// Whether another request may follow on the connection. One that is still sending its body cannot
    /// be waited for once it has its answer.
    var keepsAlive: Bool {
        client.keepAlive && framing != .close && !isReceivingRequest && !loop.isDraining
    }

    func received(_ bytes: ByteBuffer) {
        let capture = sharing?.capture
        capture?.append(bytes)
        if phase == .delivering { caching?.writer?.append(bytes) }
        // Where no body can follow, the client would take one for its next answer.
        guard let connection, phase == .delivering, framing != .none else {
            return took(bytes.readableBytes)
        }
        if framing == .chunked {
            if bytes.readableBytes < 4096 {
                var out = ByteBuffer()
                ChunkWriter.writeChunk(bytes, into: &out)
                connection.write(out)
            } else {
                var out = ByteBuffer()
                ChunkWriter.writeChunkHead(byteCount: bytes.readableBytes, into: &out)
                connection.write(out)
                connection.write(bytes)
                connection.write(ByteBuffer(staticString: "\r\n"))
            }
        } else {
            connection.write(bytes)
        }
        if connection.isWritable {
            took(bytes.readableBytes)
        } else {
            untakenByteCount += bytes.readableBytes
        }
    }

    /// The client has caught up.
    func clientTookBytes() {
        caching?.sending?.goOn()
        handshake?.readMore()
        given?.goOn()
        let count = untakenByteCount
        untakenByteCount = 0
        took(count)
    }

    private func took(_ count: Int) {
        tellTaken(sharing?.clientTook(count) ?? count)
    }

    /// So many bytes of the answer need not be waited for any more.
    func tellTaken(_ count: Int) {
        guard let attempt, count > 0 else { return }
        let left = attempt.bytesOutstanding.subtract(count, ordering: .acquiringAndReleasing).newValue
        if left < Self.resumeBelow, attempt.isReceivingPaused.load(ordering: .acquiring) {
            loop.worker?.resumeReceiving(attempt)
        }
    }

    func responseEnded(trailers: ByteBuffer?) {
        attempt = nil
        endFresh()
        caching?.writer?.commit()
        if let sharing { claim?.end(.answer(sharing.finished())) }
        sharing = nil
        let wasResponding = phase == .delivering
        ended(as: isClientGone ? .cancelled : .delivered)
        guard wasResponding, let connection else { return }
        if framing == .chunked {
            var out = ByteBuffer()
            ChunkWriter.writeLastChunk(trailers: trailers, into: &out)
            connection.write(out)
        }
        connection.exchangeFinished(keepsAlive: keepsAlive && !saysClose)
    }

    /// Cut off upstream, so cut off downstream: the client must not take a part for the whole.
    func responseBroke(_ failure: Failure) {
        caching?.writer?.abandon()
        ended(as: .failed, failure: failure)
        connection?.breakOff(isCloseDelimited: framing == .close)
    }
}
