import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

extension DirectConnection {
    // MARK: Whether it may be sent

    /// Whether nothing has arrived on the idle connection, its end included.
    ///
    /// What an origin sends there while nobody asked would become the response to the next request. It may lie in the kernel and wait for
    /// this turn of the loop.
    var isQuiet: Bool {
        guard let context, context.channel.isActive else { return false }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
    }

    func ask(_ permit: SendingPermit) {
        sending.awaitsPermit = true
        let (loop, number) = (worker.eventLoop, attemptCount)
        permit { isGranted in
            if loop.inEventLoop { return self.permitted(isGranted, number: number) }
            loop.execute { self.permitted(isGranted, number: number) }
        }
    }

    private func permitted(_ isGranted: Bool, number: Int) {
        guard sending.awaitsPermit, number == attemptCount, let attempt else { return }
        sending.awaitsPermit = false
        guard isGranted else { return fail(.notMarked) }
        guard isOpen, !isInputClosed else { return lost(nil) }
        guard sendHead(of: attempt) else { return worker.run(attempt) }
        guard input.readableBytes > 0 else { return }
        receive()
        worker.batchEnded()
    }

    // MARK: Head and body

    /// Sends the head, and as much of the body as is there and fits.
    ///
    /// What is read of a body that must not be sent twice is not kept. So it is read only once the kernel has taken the head: if the
    /// connection turns out to be gone, the whole body is there for another one.
    ///
    /// - Returns: False: nothing was sent, and the attempt needs another connection.
    func sendHead(of attempt: UpstreamAttempt) -> Bool {
        let request = attempt.request
        var out = worker.scratch
        worker.scratch = ByteBuffer()
        defer { worker.scratch = out }
        out.clear()
        let bindsConnection = RequestHeadWriter.write(request, into: &out)
        if bindsConnection { bind(to: attempt.client) }
        if let body = request.body { openReader(body, of: attempt) }
        let sendsBodyNow = !sending.awaitsContinue && sending.reader?.isComplete == false
        if sendsBodyNow, request.mayBeSentTwice, !readPiece(into: &out, of: attempt) { return true }
        attempt.hasBegunSending.store(true, ordering: .releasing)
        let isFollowed = sendsBodyNow && !request.mayBeSentTwice && request.body?.receivedByteCount != 0
        if let code = handOver(out, isFollowed: isFollowed) {
            attempt.hasBegunSending.store(false, ordering: .releasing)
            return brokeAtOnce(code, attempt)
        }
        if sending.isComplete { attempt.isBodyHandedOver.store(true, ordering: .relaxed) }
        if sending.awaitsContinue { startWaitingForContinue() } else if sending.reader?.isComplete == false { sendBody() }
        noteDeadline()
        readMore()
        return true
    }

    /// The kernel refused the first byte: the connection is gone, and the origin has nothing of the request. On a new connection the
    /// reason may have arrived: an alert of TLS 1.3, or an error response. It is read first, and then the attempt is judged.
    private func brokeAtOnce(_ code: CInt, _ attempt: UpstreamAttempt) -> Bool {
        if !isReused, isOpen, context?.channel.isActive == true, code == EPIPE || code == ECONNRESET {
            sending.brokenBy = IOError(errnoCode: code, reason: "send")
            stopSending()
            readMore()
            return true
        }
        let wasReused = isReused
        _ = takeAttempt()
        close()
        if wasReused { return false }
        worker.end(attempt, with: .refusedByKernel(code, remoteAddress: remoteAddress))
        return true
    }

    /// Keeps the connection for the client that it was authenticated for; without a client it is not used again.
    private func bind(to client: Int?) {
        boundClient = client
        if client == nil { receiving.endsConnection = true }
    }

    private func openReader(_ body: CapturedBody, of attempt: UpstreamAttempt) {
        sending.awaitsContinue = attempt.request.expectsContinue
        let (loop, number) = (worker.eventLoop, attemptCount)
        sending.reader = FramedBodyReader(body, framing: attempt.request.framing) { [weak self] in
            loop.execute { [weak self] in self?.bodyCame(number: number) }
        }
    }

    /// - Returns: False: the body will never be complete, and the attempt has ended.
    private func readPiece(into out: inout ByteBuffer, of attempt: UpstreamAttempt) -> Bool {
        var result = CapturedBody.ReadResult.wait
        out.writeWithUnsafeMutableBytes(minimumWritableBytes: worker.options.pieceByteCountMax) { memory in
            result = sending.reader?.read(into: memory) ?? .brokenOff
            if case .bytes(let count) = result { return count }
            return 0
        }
        switch result {
        case .bytes(let count): attempt.bodyBytesSent.add(Int64(count), ordering: .relaxed)
        case .wait: sending.awaitsBody = true
        case .end: break
        case .brokenOff:
            fail(.bodyBrokenOff)
            return false
        }
        return true
    }

    /// Pieces of a body that are sent before others on the loop have their turn. Default: 8.
    private static let piecesPerTurn = 8

    /// Sends what is there of the body, as far as the kernel takes it.
    func sendBody() {
        for _ in 0..<Self.piecesPerTurn {
            guard let attempt, maySendBody else { return finishIfSent() }
            guard !sending.awaitsBody else {
                if receiving.withheld != nil { noteDeadline() }
                return wantBody(of: attempt)
            }
            var out = worker.scratch
            worker.scratch = ByteBuffer()
            defer { worker.scratch = out }
            out.clear()
            guard readPiece(into: &out, of: attempt) else { return }
            if out.readableBytes > 0, let code = handOver(out) { return sendingBroke(code, attempt) }
            if sending.isComplete { attempt.isBodyHandedOver.store(true, ordering: .relaxed) }
        }
        let number = attemptCount
        worker.eventLoop.execute { if self.attemptCount == number { self.sendBody() } }
    }

    /// The kernel takes no more. An origin that refuses a body may have answered and closed, so what has arrived is read to its end
    /// first, and then the attempt is judged.
    private func sendingBroke(_ code: CInt, _ attempt: UpstreamAttempt) {
        let error = IOError(errnoCode: code, reason: "send")
        // Only these say that the peer has closed: then the channel reports the end of the input, too.
        guard isOpen, code == EPIPE || code == ECONNRESET else { return lost(error) }
        sending.brokenBy = error
        // A success has come whose request is cut.
        if receiving.isAnswered || receiving.withheld != nil, !receiving.isError { return fail(.lost(error)) }
        stopSending()
        if receiving.isError { attempt.receiver.receive(.bodyUnwanted, of: attempt) }
        if receiving.isOver { finish(trailers: nil) } else { readMore() }
    }

    private var maySendBody: Bool {
        isOpen && sending.byteCount > 0 && sending.waitingByteCount == 0 && !sending.awaitsContinue && !sending.isStopped
            && sending.reader?.isComplete == false
    }

    private func bodyCame(number: Int) {
        guard number == attemptCount, attempt != nil else { return }
        sending.awaitsBody = false
        sendBody()
        noteDeadline()
    }

    private func wantBody(of attempt: UpstreamAttempt) {
        guard attempt.request.expectsContinue, !sending.hasWantedBody else { return }
        sending.hasWantedBody = true
        attempt.receiver.receive(.bodyWanted, of: attempt)
        worker.batchEnded()
    }

    // MARK: 100 (Continue)

    /// RFC 9110 section 10.1.1: a client that waits for a 100 must not wait for ever.
    private func startWaitingForContinue() {
        sending.continueAt = worker.eventLoop.now + TimeAmount(worker.options.continueWaitMax)
    }

    func stopAwaitingContinue() {
        guard sending.awaitsContinue else { return }
        sending.awaitsContinue = false
        sending.continueAt = nil
        sendBody()
        noteDeadline()
    }

    // MARK: Bytes

    /// Hands bytes to the kernel at once, so that it is known how many it took; what it does not take waits in the channel.
    ///
    /// - Parameter isFollowed: Whether more bytes follow at once, so that the kernel may wait with these (MSG_MORE).
    /// - Returns: The reason (send(2)) why the kernel took none and the connection is gone; else nil.
    private func handOver(_ bytes: ByteBuffer, isFollowed: Bool = false) -> CInt? {
        guard tls == nil else { return handOverSecured(bytes) }
        switch sendNow(bytes, isFollowed: isFollowed) {
        case .failure(let error): return error.errnoCode
        case .success(let taken): handedOver(bytes, countTaken: taken, rest: taken)
        }
        return nil
    }

    /// The same for bytes that are encrypted first. What the kernel takes of a record counts as so many bytes of the request.
    private func handOverSecured(_ bytes: ByteBuffer) -> CInt? {
        var out = worker.secured
        worker.secured = ByteBuffer()
        defer { worker.secured = out }
        out.clear()
        // TLS is broken; the connection may be open.
        guard encrypt(bytes, into: &out) else { return EPROTO }
        switch sendNow(out) {
        case .failure(let error): return error.errnoCode
        case .success(let taken) where taken == out.readableBytes:
            handedOver(bytes, countTaken: bytes.readableBytes, rest: bytes.readableBytes)
            acknowledgeTicketsAtOnce()
        case .success(let taken):
            let counted = min(taken, bytes.readableBytes)
            handedOver(out, countTaken: counted, rest: taken, isLeft: max(1, bytes.readableBytes - counted))
        }
        return nil
    }

    /// Makes our kernel acknowledge the TLS tickets behind the handshake at once (TCP_QUICKACK, tcp(7)). Until they are acknowledged, the
    /// kernel of an origin without TCP_NODELAY keeps a short response back (RFC 896). If the origin closes without reading the body, its
    /// kernel drops that response. Each send makes our kernel wait again, so this is called after each. Decision 92.
    private func acknowledgeTicketsAtOnce() {
        guard !isReused, !receiving.hasBegun, tls?.mayGetTicket == true else { return }
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<CInt>.size))
    }

    private static let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    private static let flagsIfFollowed = flags | CInt(MSG_MORE)

    /// What the kernel takes at once (send(2)): nothing while bytes wait in the channel.
    func sendNow(_ bytes: ByteBuffer, isFollowed: Bool = false) -> Result<Int, IOError> {
        guard let context, context.channel.isActive else { return .failure(IOError(errnoCode: ECONNRESET, reason: "send")) }
        guard channelWriteCount == 0 else { return .success(0) }
        let count = bytes.withUnsafeReadableBytes { memory in
            send(descriptor, memory.baseAddress, memory.count, isFollowed ? Self.flagsIfFollowed : Self.flags)
        }
        if count < 0, errno != EAGAIN, errno != EWOULDBLOCK, errno != EINTR {
            return .failure(IOError(errnoCode: errno, reason: "send"))
        }
        return .success(max(0, count))
    }

    /// - Parameters:
    ///   - count: Bytes of the request that the kernel has taken.
    ///   - rest: Where in the bytes what is left to the channel begins.
    ///   - left: Bytes of the request in that part; nil: all of its bytes.
    private func handedOver(_ bytes: ByteBuffer, countTaken count: Int, rest: Int, isLeft left: Int? = nil) {
        sending.byteCount += Int64(count)
        if attempt?.request.timeouts.firstByte != nil || receiving.isOver { sending.lastAt = worker.eventLoop.now }
        guard rest < bytes.readableBytes else { return }
        let rest = ByteBuffer(bytes: bytes.readableBytesView.dropFirst(rest))
        let (number, left) = (attemptCount, left ?? rest.readableBytes)
        sending.waitingByteCount = left
        writeLater(rest) { self.channelSent(left, number: number) }
    }

    private func channelSent(_ count: Int, number: Int) {
        guard number == attemptCount else { return }
        sending.waitingByteCount = 0
        sending.byteCount += Int64(count)
        sending.lastAt = worker.eventLoop.now
        if sending.isComplete { attempt?.isBodyHandedOver.store(true, ordering: .relaxed) }
        acknowledgeTicketsAtOnce()
        sendBody()
        noteDeadline()
        readMore()
    }
}
