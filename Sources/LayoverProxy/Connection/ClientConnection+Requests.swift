import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

extension ClientConnection {
    /// Decodes as far as it is this request's turn.
    ///
    /// A response that is made at once comes back here from within; the loop under way goes on with the
    /// next request then, so that a client cannot make the stack grow with what it pipelines.
    func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        do throws(FramingError) {
            // mutant: out-of-turn
            while phase == .idle || exchange?.isReceivingRequest == true {
                guard let event = try decoder.next(&input) else { break }
                switch event {
                case .head(let head): begin(head)
                case .body(let bytes): take(bytes)
                case .end(let trailers): finishRequest(trailers)
                }
            }
            noteProgress()
            if isInputClosed { inputIsOver() }
        } catch {
            refuse(error)
        }
    }

    /// Nothing comes behind what was decoded.
    private func inputIsOver() {
        if phase == .idle { return closeWhenWritten() }
        // A pipelined request may have begun after the end of the input.
        if phase == .exchanging { exchange?.clientClosedInput() }
    }

    private func begin(_ head: RequestHead) {
        phase = .exchanging
        isHeadTimed = false
        deadline = nil
        // A request without a body is complete. The decoder still owes its end.
        if !head.framing.hasBody { _ = try? decoder.next(&input) }
        loop.metrics.requestCount.increment()
        intercepted?.verdict.accepted()
        if let log = loop.accessLog {
            access = log.record(head, from: clientAddress, intercepted?.origin, isSecure: isSecure)
        }
        if isOverLimit { return refuse(limitReached, to: head) }
        if let users = loop.users { authenticate(head, by: users) } else { plan(head) }
    }

    /// Does what the request asks for.
    func plan(_ head: RequestHead) {
        do throws(Refusal) {
            switch try loop.planner.plan(
                head, isLoopback: isLoopback, cache: &addressCache, intercepted: intercepted?.origin, isSecure: isSecure,
                reachedAt: reachedAt)
            {
            case .intercept(let plan):
                peekBeforeTunnel(head, plan)
            case .forward(let plan):
                let exchange = Exchange(plan, head, of: self)
                self.exchange = exchange
                exchange.requestBegan()
            case .ticket(let question):
                let exchange = TicketResource(connection: self, loop: loop, head: head, question: question)
                self.exchange = exchange
                exchange.begin()
            case .answer(let response):
                answerDirectly(response, to: head)
            }
        } catch {
            refuse(error, to: head)
        }
    }

    func refuse(_ refusal: Refusal, to head: RequestHead) {
        loop.metrics.refusedRequestCount.increment()
        answerDirectly(OwnResponse(refusal.problem, of: loop), to: head, closes: refusal.closes)
    }

    /// A response that needs no exchange. A body that comes with the request is not worth reading.
    private func answerDirectly(_ response: OwnResponse, to head: RequestHead, closes: Bool = false) {
        // Bytes after a refused CONNECT may be meant for the tunnel, so they must not be read as a request.
        let closes = closes || !head.keepAlive || head.framing.hasBody || head.method == .connect || loop.isDraining
        loop.metrics.ownResponseCount.increment()
        responds(response.status, from: .layover)
        write(response.encoded(closes: closes, sendsBody: head.method != .head, isOnOwnOrigin: head.isOnOwnOrigin && intercepted == nil))
        finishAccess(.done)
        if closes {
            flushNow()
            linger()
        } else {
            phase = .idle
            flushNow()
            deadline = loop.coarseNow + loop.timeouts.idle
        }
    }

    private func take(_ bytes: ByteBuffer) {
        loop.metrics.requestByteCount.increment(by: bytes.readableBytes)
        access?.receivedByteCount += bytes.readableBytes
        isBodyPaused = exchange?.receivedBody(bytes) == false
    }

    private func finishRequest(_ trailers: FieldBlock?) {
        isBodyPaused = false
        deadline = nil
        exchange?.finishedRequest(trailers: trailers)
    }

    /// The body's capture has room again.
    func resumeBody() {
        guard phase == .exchanging, isBodyPaused else { return }
        isBodyPaused = false
        process()
        readMore()
    }

    // MARK: Deadlines

    /// Sets what the client has to do next, after it did something.
    private func noteProgress() {
        switch phase {
        case .idle:
            // From the first byte of a head on its time runs; more bytes do not lengthen it.
            if decoder.isInHead, !isHeadTimed {
                isHeadTimed = true
                deadline = loop.coarseNow + loop.timeouts.requestHead
            }
        case .exchanging:
            deadline =
                exchange?.isReceivingRequest == true && !isBodyPaused
                ? loop.coarseNow + loop.timeouts.requestBody : nil
        case .lingering, .handingOver, .closed:
            break
        }
    }

    /// Whether `tick` may have something to do.
    func wantsTick(now: NIODeadline) -> Bool {
        isNotRead || isInputClosed || stallDeadline != nil || writtenByteCountLeft > 0 || deadline.map { $0 <= now } == true
    }

    /// Once a second, if it is wanted: does what is overdue.
    func tick(now: NIODeadline) {
        if isNotRead, exchange?.isDelivered != true, peerSocket == .closed { return closeNow() }
        if hasStalled(now: now) { return breakOff(isCloseDelimited: true) }
        // mutant: hangs-for-nobody
        if phase == .exchanging, hasLeftAfterHalfClose(now: now) { return closeNow() }
        guard let deadline, deadline <= now else { return }
        // Bytes of a response that still wait for the client are no idleness.
        if untakenByteCount > 0, phase == .lingering || phase == .idle && !decoder.isInHead {
            self.deadline = loop.coarseNow + loop.timeouts.idle
            lingerEndsAt = loop.coarseNow + Self.lingerMax
            return
        }
        self.deadline = nil
        switch phase {
        case .idle where decoder.isInHead:
            refuse(status: 408, kind: "request_head_timeout", "The request head took longer than timeouts.requestHead.")
        case .exchanging:
            exchange?.requestBodyStalled()
        case .idle, .lingering:
            closeNow()
        case .handingOver, .closed:
            break
        }
    }

    private func hasLeftAfterHalfClose(now: NIODeadline) -> Bool {
        halfClosed?.isGone(at: now, takenByteCount: takenByteCount, limit: loop.timeouts.halfClosed) { peerSocket } == true
    }

    // MARK: Refusals

    /// - Parameter sendsBody: False: the request is one by HEAD.
    func refuse(_ error: FramingError, sendsBody: Bool = true) {
        loop.metrics.refusedRequestCount.increment()
        if let exchange, phase == .exchanging {
            // Broken in the middle of the body: the exchange must not go on with half of it.
            exchange.requestBroke(status: error.status, detail: detail(of: error))
        } else {
            let kind = error.status == 431 || error.status == 414 ? "limit" : "malformed"
            refuse(status: error.status, kind: kind, detail(of: error), sendsBody: sendsBody)
        }
    }

    /// The parser's reason; where a limit was hit, its name and value too.
    private func detail(of error: FramingError) -> String {
        let limits = loop.configuration.framing
        let reason = String(describing: error.reason)
        return switch error.status {
        case 431:
            "\(reason) limits.headerBytes is \(limits.headByteCountMax); at most \(limits.fieldCountMax) fields are accepted."
        case 414: "\(reason) limits.headerBytes is \(limits.headByteCountMax)."
        default: reason
        }
    }

    /// Answers bytes that are no request. Their origin is unknown, so the response counts as one of the proxy's own origin.
    private func refuse(status: Int, kind: String, _ detail: String, sendsBody: Bool = true) {
        let problem = Problem(status: status, kind: kind, detail: detail, error: .httpRequestError)
        loop.metrics.ownResponseCount.increment()
        if let log = loop.accessLog { access = log.malformed(input, from: clientAddress) }
        responds(status, from: .layover)
        write(OwnResponse(problem, of: loop).encoded(closes: true, sendsBody: sendsBody, isOnOwnOrigin: true))
        finishAccess(.done)
        flushNow()
        linger()
    }

    private var limitReached: Refusal {
        let problem = Problem(
            status: 503, kind: "limit", detail: "The limit limits.connections (\(loop.connectionLimit.countMax)) is reached.",
            error: .connectionLimitReached, retryAfter: .seconds(1))
        return Refusal(problem: problem, closes: true)
    }

    func refuseConnection() {
        write(OwnResponse(limitReached.problem, of: loop).encoded(closes: true, sendsBody: true, isOnOwnOrigin: true))
        flushNow()
        linger()
    }
}

/// Name and password, before anything else is done for a request (RFC 9110 section 11.7).
extension ClientConnection {
    /// Goes on with the request once it is known who asks, or refuses it.
    func authenticate(_ head: RequestHead, by users: UserAccess) {
        guard !isOwn, intercepted == nil, loop.planner.asksForUser(head) else { return admit(head, user) }
        switch users.verdict(on: head) {
        case .admitted(let user): admit(head, user)
        case .refused: refuseUser(of: head)
        case .unknown(let credential):
            let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
            users.check(credential, from: clientAddress, on: loop.eventLoop).assumeIsolated().whenComplete { result in
                bound.value.checked(head, result, by: users)
            }
        }
    }

    private func checked(_ head: RequestHead, _ result: Result<UserAccess.Verdict, any Error>, by users: UserAccess) {
        // The client may have left meanwhile.
        guard phase == .exchanging, exchange == nil else { return }
        // After a reload other users count.
        if let current = loop.users, current !== users {
            authenticate(head, by: current)
        } else {
            switch result {
            case .success(.admitted(let user)): admit(head, user)
            case .success: return refuseGuess(of: head, by: users)
            case .failure: refuse(Self.tooManyChecks, to: head)
            }
        }
        guard phase != .exchanging || exchange != nil else { return }
        process()
        readMore()
    }

    /// Refuses a credential that was just found to be wrong, later with each one from the same address.
    private func refuseGuess(of head: RequestHead, by users: UserAccess) {
        let delay = users.refusalDelay(from: clientAddress, at: loop.engine.clock.now())
        guard delay > .zero else { return finishGuess(head) }
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: TimeAmount(delay)) { bound.value.finishGuess(head) }
    }

    private func finishGuess(_ head: RequestHead) {
        // The client may have left in the meantime.
        guard phase == .exchanging, exchange == nil else { return }
        refuseUser(of: head)
        guard phase != .exchanging else { return }
        process()
        readMore()
    }

    private func admit(_ head: RequestHead, _ user: UserCount?) {
        user?.requestCount.increment()
        access?.user = user?.name
        if head.method == .connect { self.user = user }
        plan(head)
    }

    private func refuseUser(of head: RequestHead) {
        loop.metrics.unauthenticatedRequestCount.increment()
        let detail =
            head.fields.contains(.proxyAuthorization)
            ? "The user name or the password is wrong, or Proxy-Authorization is not of the scheme Basic."
            : "This proxy asks for a user name and a password: http_proxy=http://NAME:PASSWORD@HOST:PORT."
        refuse(Refusal(407, "proxy_authentication_required", detail, error: .httpRequestDenied), to: head)
    }

    private static var tooManyChecks: Refusal {
        let problem = Problem(
            status: 503, kind: "limit", detail: "Too many passwords wait to be checked.", error: .connectionLimitReached,
            retryAfter: .seconds(1))
        return Refusal(problem: problem)
    }
}
