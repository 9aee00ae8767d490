import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Synchronization

extension Transfer {
    // MARK: Heads and trailers

    /// HEADERFUNCTION: one line of a head or of the trailers. False ends the transfer.
    func receivedHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        receiving.lastAt = loop.now
        receiving.hasBegun = true
        do throws(FramingError) {
            switch receiving.framing {
            case .some(.none): foundExcess()
            case .some: _ = try trailerAssembler.take(line: line)
            case nil:
                let isHTTP2 = easyOptions.supportsHTTP2 && line.starts(with: Self.http2Status)
                let head = isHTTP2 ? try takeHTTP2Status(line) : try headAssembler.take(line: line)
                if let head { received(head) }
            }
            return true
        } catch {
            abortCause = .malformedResponse(FailureReason(error, isInHead: receiving.framing == nil))
            return false
        }
    }

    private static let http2Status = Array("HTTP/2 ".utf8)

    /// libcurl writes the status of HTTP/2 as a status line: `HTTP/2 200`.
    private func takeHTTP2Status(_ line: UnsafeRawBufferPointer) throws(FramingError) -> ResponseHead? {
        receiving.isHTTP2 = true
        readsToTheEndOfTheStream()
        loop.poller.sockets.noteHTTP2(on: descriptor, withBody: sending.reader != nil)
        // The origin may read on after its response, and send frames meanwhile. On an idle connection nobody would read them.
        if sending.reader != nil { easyOptions.setForbidReuse(true) }
        let status = Array("HTTP/1.1 ".utf8) + line.dropFirst(Self.http2Status.count)
        var head: ResponseHead?
        var failure: FramingError?
        status.withUnsafeBytes { bytes in
            do throws(FramingError) { head = try headAssembler.take(line: bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        return head
    }

    private func received(_ head: ResponseHead) {
        // Where HTTP/1.1 would have chunks, HTTP/2 has the end of the stream, and libcurl tells it from a break.
        let head = receiving.isHTTP2 && head.framing == .untilClose ? head.chunked : head
        guard let attempt else { return }
        if !head.isInterim, sending.reader?.isComplete == false { answeredEarly(head, attempt) }
        if !head.isInterim || head.status == 100 { stopAwaitingContinue() }
        if head.isInterim { return loop.outbox.add(.interim(head), of: attempt) }
        receiving.framing = head.framing
        receiving.isEndedByUs = headAssembler.hasIdentityCoding
        receiving.isError = head.status >= 300
        if attempt.wantsConnectionFacts { attempt.connectionFacts = connectionFacts }
        // libcurl would speak HTTP/1.0 on a connection that did so before.
        if head.minorVersion == 0 || head.announcesImpossibleBody { easyOptions.setForbidReuse(true) }
        switch head.framing {
        case .none:
            easyOptions.setVerbose(true)
            loop.touch(self)
        // libcurl reports bytes behind the end of a response only in its verbose output.
        case .chunked, .length(0): easyOptions.setVerbose(true)
        // `connectionCloses` needs libcurl's remark that comes while the connection is still open.
        case .untilClose: if easyOptions.isSecure { easyOptions.setVerbose(true) }
        case .length: break
        }
        if !isRequestSent, isEarly(head) { return }
        loop.outbox.add(.head(head, sendings: sending.count), of: attempt)
        loop.noteDeadline(deadline)
    }

    /// The origin has decided without all of the body, which is sent to its end nevertheless. It is not sent where the origin did not ask
    /// for it (RFC 9110 section 10.1.1), or where an error says that the connection closes (RFC 9112 section 9.5).
    private func answeredEarly(_ head: ResponseHead, _ attempt: UpstreamAttempt) {
        let isStopped = sending.awaitsContinue || head.status >= 300 && head.endsConnection
        easyOptions.setForbidReuse(true)
        guard isStopped else { return }
        sending.isStopped = true
        loop.outbox.add(.bodyUnwanted, of: attempt)
        // A paused sending would never end.
        if sending.isPaused { sending.wantsResume = true }
        loop.touch(self)
    }

    /// DEBUGFUNCTION: libcurl 7.88.1 swallows bytes behind a response without a body and behind the last
    /// chunk, keeps the connection, and only says so. What follows them would be the next response.
    func receivedRemark(_ text: UnsafeRawBufferPointer) {
        if text.starts(with: Self.refusedRemark) { sending.isRefused = true }
        sendFailed(text)
        if text.starts(with: Self.closingRemark) { connectionCloses() }
        if receiving.isHTTP2, Self.isStreamClosed(text) { receiving.isStreamEnded = true }
        if Self.excessRemarks.contains(where: { text.starts(with: $0) }) { foundExcess() }
    }

    /// DEBUGFUNCTION: a head went out. That of a request for a tunnel tells that the connection to the parent proxy stood.
    func sentHead(_ bytes: UnsafeRawBufferPointer) {
        if bytes.starts(with: Self.connectLine) { sending.hasAskedParentProxy = true }
    }

    private static let connectLine = Array("CONNECT ".utf8)

    /// Bytes follow the end of the response. The response is whole and counts; they go with the connection
    /// (RFC 9112 section 6.3: never a part of it, never the next one).
    private func foundExcess() { easyOptions.setForbidReuse(true) }

    private static let refusedRemark = Array("REFUSED_STREAM".utf8)

    private static let closingRemark = Array("Closing connection".utf8)

    /// DEBUGFUNCTION: libcurl is about to close the connection. It takes any end of TLS for a proper one (decision 92).
    private func connectionCloses() {
        guard receiving.framing == .untilClose, easyOptions.isSecure, let tls = layover_get_tls(easy) else { return }
        receiving.isEndUnclosed = loop.options.hasCloseNotify?(OpaquePointer(tls)) == false
    }

    private static let excessRemarks: [[UInt8]] = [
        Array("Excess found".utf8), Array("Leftovers after chunking".utf8),
    ]

    // MARK: Body

    /// WRITEFUNCTION: a piece of the body.
    ///
    /// - Returns: How many bytes were taken; too few end the transfer.
    func receivedBody(_ piece: UnsafeRawBufferPointer) -> Int {
        guard let framing = receiving.framing else {
            // What does not begin as HTTP/1 does is a response of HTTP/0.9 for libcurl: a body without a head.
            let mayUseHTTP2 = easyOptions.isSecure && attempt?.request.parentProxyUse != .forward
            abortCause = .malformedResponse(
                FailureReason(ResponseDecoder.refusal(ofBeginning: piece), isInHead: true, mayUseHTTP2: mayUseHTTP2))
            return 0
        }
        if framing == .none {
            foundExcess()
            return piece.count
        }
        if receiving.isPaused { return Int(CURL_WRITEFUNC_PAUSE) }
        receiving.lastAt = loop.now
        let most = loop.options.receiveBufferByteCount
        if pendingBody.readableBytes + piece.count > most { releaseBody() }
        if pendingBody.readableBytes == 0 {
            // One allocation for all pieces of one read: libcurl hands over 16 KiB at a time.
            var expected = framing == .chunked ? piece.count : most
            if case .length(let count) = framing { expected = min(most, count - receiving.bodyByteCount) }
            pendingBody.reserveCapacity(max(expected, piece.count))
        }
        pendingBody.writeBytes(piece)
        receiving.bodyByteCount += piece.count
        pauseIfTooMuch()
        loop.touch(self)
        return piece.count
    }

    /// Takes no further piece when the loop has too much. libcurl would read a hundred buffers in one turn.
    ///
    /// Set before a piece is handed over: the loop looks at `isReceivingPaused` when it takes bytes away, so there must be bytes that it
    /// gets afterwards.
    private func pauseIfTooMuch() {
        guard let attempt,
            attempt.bytesOutstanding.load(ordering: .relaxed) + pendingBody.readableBytes > bytesOutstandingMax(of: attempt)
        else { return }
        receiving.isPaused = true
        attempt.isReceivingPaused.store(true, ordering: .releasing)
    }

    /// Least bytes that may be outstanding: those of a turn of libcurl are taken by the loop's thread later. Default: 64 KiB.
    private static let bytesOutstandingMin = 64 << 10

    private func bytesOutstandingMax(of attempt: UpstreamAttempt) -> Int {
        min(loop.options.bytesOutstandingMax, max(Self.bytesOutstandingMin, attempt.bytesOutstandingMax ?? .max))
    }

    /// The turn ends: what it brought goes to the loop.
    func handOver() {
        isTouched = false
        guard attempt != nil else { return }
        if isResponseComplete {
            // The body of the request is not wanted. And where a HEAD has a body, libcurl does not know that its response has none. With
            // the coding `identity` it ignores the length.
            if sending.isStopped || receiving.isEndedByUs || easyOptions.isHeadWithBody { return loop.finishEarly(self) }
            tellComplete()
        }
        if !receiving.isWithheld { releaseBody() }
        if sending.wantsResume { resumeSending() }
    }

    /// Whether all of the response is here. libcurl decodes chunks, so of chunked ones only it knows.
    /// Those of errors are decoded here, too.
    var isResponseComplete: Bool {
        switch receiving.framing {
        case .some(.none): true
        case .length(let count)?: receiving.bodyByteCount == count
        case .chunked?: receiving.hasAllChunks
        case nil, .untilClose?: false
        }
    }

    func releaseBody() {
        guard let attempt, pendingBody.readableBytes > 0 else { return }
        attempt.bytesOutstanding.add(pendingBody.readableBytes, ordering: .relaxed)
        loop.outbox.add(.body(pendingBody), of: attempt)
        pendingBody = ByteBuffer()
    }

    /// The loop has taken bytes away. It says so each time while receiving is paused, and not each time
    /// is there room for more.
    func resumeReceiving() {
        guard receiving.isPaused, let attempt,
            attempt.bytesOutstanding.load(ordering: .relaxed) <= bytesOutstandingMax(of: attempt)
        else { return }
        receiving.isPaused = false
        receiving.lastAt = loop.now
        attempt.isReceivingPaused.store(false, ordering: .releasing)
        curl_easy_pause(easy, sending.isPaused ? CURLPAUSE_SEND : CURLPAUSE_CONT)
        loop.noteDeadline(deadline)
    }

    // MARK: Deadlines

    /// The time of the next action if nothing happens before; nil if none is due.
    var deadline: UInt64? {
        guard let peerCheckAt = sending.peerCheckAt else { return ownDeadline }
        return min(peerCheckAt, ownDeadline ?? .max)
    }

    private var ownDeadline: UInt64? { resolving.endsAt ?? sending.continueAt ?? silenceEndsAt }

    /// The deadline has come. Returns whether the attempt is over.
    func deadlineCame() -> Bool {
        if isPeerDead() {
            abortCause = abortCause ?? .peerDead
            return true
        }
        guard let ownDeadline, ownDeadline <= loop.now else { return false }
        if withheldUntil != nil {
            passOnEnd()
            return false
        }
        guard resolving.endsAt == nil, sending.continueAt != nil else { return true }
        stopAwaitingContinue()
        return false
    }

    private func isPeerDead() -> Bool {
        guard let checkAt = sending.peerCheckAt, checkAt <= loop.now, let limit = attempt?.request.timeouts.deadPeer else { return false }
        sending.peerCheckAt = loop.now + PeerSilence.interval(limit: limit).nanoseconds
        guard descriptor >= 0, let facts = PeerSilence.Facts(of: descriptor) else { return false }
        return sending.peerSilence.isDead(facts, now: .nanoseconds(Int64(clamping: loop.now)), limit: limit)
    }

    /// When the attempt has been silent for too long; nil if it may be silent.
    ///
    /// A request whose body the client still owes us, or a response that the client does not take, is not
    /// the origin's silence.
    private var silenceEndsAt: UInt64? {
        guard let timeouts = attempt?.request.timeouts, sending.count > 0 else { return nil }
        if receiving.isOver {
            if let withheldUntil { return withheldUntil }
            return sending.isPaused ? nil : sending.lastAt + (timeouts.idle ?? loop.options.restStallMax).nanoseconds
        }
        if receiving.framing != nil {
            guard let idle = timeouts.idle, !receiving.isPaused else { return nil }
            return receiving.lastAt + idle.nanoseconds
        }
        guard let firstByte = timeouts.firstByte, !sending.isPaused else { return nil }
        return sending.lastAt + firstByte.nanoseconds
    }
}
