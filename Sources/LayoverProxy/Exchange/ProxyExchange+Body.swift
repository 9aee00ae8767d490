import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The request's body, from the client into the capture.
extension ProxyExchange {
    func makeBody() -> CapturedBody {
        var length: Int?
        if case .length(let count) = request.framing { length = count }
        let loop = self.loop
        return CapturedBody(
            length: length, mayBeSentTwice: request.mayBeSentTwice || mayBeAskedAbout, limits: loop.rules.body,
            spool: loop.spool,
            clientResumed: { [weak self] in
                loop.eventLoop.execute { [weak self] in self?.connection?.resumeBody() }
            },
            stuck: { [weak self] in loop.eventLoop.execute { [weak self] in self?.bodyIsStuck() } })
    }

    /// How long after the disk has refused what waits it is tried again. Default: 5 s.
    static let roomPause: TimeAmount = .seconds(5)

    private func bodyIsStuck() {
        cannotBeReadFirst()
        bodyFoundNoRoom()
    }

    /// Nobody tells us when there is room again, so it is tried. One over `limits.bodyMax` waits for the upstream alone.
    private func bodyFoundNoRoom() {
        guard !isWaitingForRoom, phase != .ended, request.body?.keepingFailure != nil else { return }
        isWaitingForRoom = true
        loop.eventLoop.scheduleTask(in: Self.roomPause) { [weak self] in
            guard let self else { return }
            isWaitingForRoom = false
            if phase != .ended { request.body?.roomMayBeBack() }
        }
    }

    /// Whether all of its body is kept although it must not be sent twice: a person may want to.
    private var mayBeAskedAbout: Bool {
        rules.policy.maybeAppliedRule() == .ask || ticket != nil || takesOverWhenClientLeaves
    }

    /// - Returns: Whether the client may go on.
    func receivedBody(_ bytes: ByteBuffer) -> Bool {
        // After an early answer nobody wants the rest.
        guard phase != .ended else { return true }
        hasSentContinue = true
        ticket?.digest?.update(bytes)
        ticket?.tokens?.read(bytes)
        guard let body = request.body else { return true }
        return body.append(bytes)
    }

    func finishedRequest(trailers: FieldBlock?) {
        isReceivingRequest = false
        let forwarded = trailers?.forwardedTrailers
        request.body?.finish(trailers: forwarded)
        requestCompleted(trailers: forwarded)
        if phase == .ended { connection?.exchangeFinished(keepsAlive: false) }
    }

    /// Lets a client go on that waits for it, once (RFC 9110 section 10.1.1).
    func sendContinue() {
        guard client.expectsContinue, !hasSentContinue, isReceivingRequest, let connection,
            phase != .delivering, phase != .ended
        else { return }
        hasSentContinue = true
        connection.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        connection.flushNow()
    }

    /// The client sent something that is no body.
    func requestBroke(status: Int, detail: String) {
        giveUp(Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError))
    }

    /// The client stopped in the middle of the body.
    func requestBodyStalled() {
        giveUp(
            Problem(
                status: 408, kind: "request_body_timeout",
                detail: "No byte of the request body arrived within timeouts.clientIdle.",
                error: .httpRequestError))
    }

    /// A request that will never be complete is never sent again and never finished upstream.
    private func giveUp(_ problem: Problem) {
        request.body?.breakOff()
        cancelAttempt()
        if phase == .delivering {
            ended(as: .failed)
            connection?.breakOff(isCloseDelimited: framing == .close)
        } else {
            fail(problem)
        }
    }

    /// Aborts the attempt under way. Its last event finds nobody.
    func cancelAttempt() {
        if let handshake {
            handshake.cancel()
        } else if let attempt {
            loop.worker?.cancel(attempt)
        }
        handshake = nil
        attempt = nil
        endFresh()
    }
}
