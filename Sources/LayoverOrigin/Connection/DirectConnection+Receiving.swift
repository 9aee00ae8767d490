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
    /// Decodes what has come as far as the recipient takes it, and tells the attempt.
    func receive() {
        guard !receiving.isReceiving else { return }
        if input.readableBytes > 0 { receiving.hasBegun = true }
        if attempt?.request.timeouts.idle != nil { receiving.lastAt = worker.eventLoop.now }
        receiving.isReceiving = true
        do throws(FramingError) {
            while let attempt, !receiving.isPaused, !receiving.isOver, let event = try decoder.next(&input) {
                switch event {
                case .head(let head): received(head, of: attempt)
                case .body(let bytes): received(bytes, of: attempt)
                case .end(let trailers):
                    guard sending.isUnderWay else { return finish(trailers: trailers) }
                    completed(trailers: trailers, of: attempt)
                }
                // The receiver may have given the attempt up.
                if self.attempt !== attempt { return }
            }
            receiving.isReceiving = false
        } catch {
            return fail(.malformed(error, isInHead: !receiving.isAnswered))
        }
        if isInputClosed, !receiving.isPaused, attempt != nil { inputEnded() }
    }

    private func received(_ head: ResponseHead, of attempt: UpstreamAttempt) {
        if head.isInterim {
            attempt.receiver.receive(.interim(head), of: attempt)
            if head.status == 100, self.attempt === attempt { stopAwaitingContinue() }
            return
        }
        receiving.isError = head.status >= 300
        // A success is not passed on for a request that the origin did not take.
        if let error = sending.brokenBy, !receiving.isError { return fail(.cut(status: head.status, error)) }
        if head.endsConnection || head.announcesImpossibleBody { receiving.endsConnection = true }
        mayBeAboutToClose = receiving.isError && attempt.request.body != nil
        if !sending.isComplete { answeredEarly(head, attempt) }
        if !withholds(head) { passOn(head, of: attempt) }
    }

    func passOn(_ head: ResponseHead, of attempt: UpstreamAttempt) {
        receiving.isAnswered = true
        if attempt.wantsConnectionFacts { attempt.connectionFacts = connectionFacts }
        attempt.receiver.receive(.head(head, sendings: 1), of: attempt)
        noteDeadline()
    }

    /// The origin has decided without all of the body, which is sent to its end nevertheless. It is not sent where the origin did not ask
    /// for it (RFC 9110 section 10.1.1), or where an error says that the connection closes (RFC 9112 section 9.5).
    private func answeredEarly(_ head: ResponseHead, _ attempt: UpstreamAttempt) {
        receiving.endsConnection = true
        guard sending.awaitsContinue || receiving.isError && (sending.isStopped || head.endsConnection) else { return }
        stopSending()
        attempt.receiver.receive(.bodyUnwanted, of: attempt)
    }

    /// The rest of the body is not sent.
    func stopSending() {
        sending.isStopped = true
        sending.awaitsContinue = false
        sending.continueAt = nil
    }

    private func received(_ bytes: ByteBuffer, of attempt: UpstreamAttempt) {
        if !withholds(bytes) { passOn(bytes, of: attempt) }
    }

    func passOn(_ bytes: ByteBuffer, of attempt: UpstreamAttempt) {
        let count = attempt.bytesOutstanding.add(bytes.readableBytes, ordering: .relaxed).newValue
        // What the next read brings must not be over the limit. Set first: the recipient resumes when it takes bytes, maybe at once.
        let most = attempt.bytesOutstandingMax ?? max(0, worker.options.bytesOutstandingMax - worker.options.readByteCountMax)
        if count > most, !receiving.isPaused {
            receiving.isPaused = true
            attempt.isReceivingPaused.store(true, ordering: .relaxed)
        }
        attempt.receiver.receive(.body(bytes), of: attempt)
    }

    /// The recipient has taken bytes. It says so each time while receiving is paused.
    func resumeReceiving() {
        guard receiving.isPaused, let attempt else { return }
        receiving.isPaused = false
        receiving.lastAt = worker.eventLoop.now
        attempt.isReceivingPaused.store(false, ordering: .relaxed)
        noteDeadline()
        readMore()
        // Not within the call: what was read ahead may complete the response.
        guard !receiving.isReceiving else { return }
        let number = attemptCount
        worker.eventLoop.execute {
            guard self.attemptCount == number, self.attempt != nil else { return }
            self.receive()
            self.worker.batchEnded()
        }
    }

    /// The response was complete before, and now the request is.
    func finishIfSent() {
        guard receiving.isOver, let attempt, sending.isComplete else { return }
        let withheld = receiving.withheld
        if let withheld, !passOn(withheld, of: attempt) { return }
        finish(trailers: withheld?.trailers)
        if withheld != nil { worker.batchEnded() }
    }

    /// The response is complete. The connection is free before anybody hears of it, so that the next request finds it.
    func finish(trailers: ByteBuffer?) {
        let isClean = sending.isComplete && !receiving.endsConnection
        guard let attempt = takeAttempt() else { return }
        retire(isClean: isClean)
        attempt.receiver.receive(.end(trailers: trailers), of: attempt)
        // A channel that is closed while it is read says nothing of the end of the batch.
        if !isOpen { worker.batchEnded() }
    }

    // MARK: The connection ends

    /// The origin sends nothing more. It may still read.
    func inputEnded() {
        guard attempt != nil else { return close() }
        if receiving.isOver { return endedAfterResponse() }
        // `permitted` finds the end when the permit comes. `resumeReceiving` finds it when the recipient has taken all bytes before it.
        if sending.awaitsPermit || receiving.isPaused { return }
        if let cause = receiving.brokenBy { return fail(cause) }
        // Under TLS only the word of the origin is its end: anybody on the way can end the connection (RFC 8446 section 6.1).
        // A failed `send` takes the reset off the socket, whose input seems to end properly then.
        let isReset = tls == nil && sending.brokenBy?.errnoCode == ECONNRESET
        if decoder.endsWithConnection, tls?.isEnded != false, !isReset { return endedByConnection() }
        lost(nil)
    }

    /// The end of the connection is that of the response.
    private func endedByConnection() {
        guard let attempt, sending.isUnderWay, !receiving.isError else { return finish(trailers: nil) }
        completed(trailers: nil, of: attempt)
        if !isOpen { endedAfterResponse() }
    }

    /// The connection has ended, or its input, while the request was still being sent. After an error nothing is missing. After a success
    /// the origin may still read; if it does not, sending will fail.
    private func endedAfterResponse(_ error: (any Error)? = nil) {
        if receiving.isError {
            finish(trailers: nil)
        } else if !isOpen || error != nil {
            fail(.lost(error))
        }
    }

    /// The connection is of no use any more, and the attempt is not over.
    func lost(_ error: (any Error)?) {
        if sending.awaitsPermit { return }
        if isSecuring { return fail(.notSecured(.closedInHandshake)) }
        let error = error ?? sending.brokenBy
        if receiving.isOver { return endedAfterResponse(error) }
        // The channel closes at a failed write and does not report that the input had ended before. The code of the failed write shows it:
        // EPIPE if the input had ended, ECONNRESET after a reset without an end before it.
        let hadEnded = sending.waitingByteCount > 0 && sending.channelBrokenBy?.errnoCode == EPIPE
        if receiving.isError, !receiving.isPaused, error == nil, hadEnded, tls == nil, decoder.endsWithConnection {
            return finish(trailers: nil)
        }
        guard sending.byteCount > 0 || sending.waitingByteCount > 0 || !isReused else { return beginAgain() }
        failOnceTaken(.lost(error))
    }

    /// The connection broke. What came before counts first, also where the recipient is behind: it may be all of the response.
    func failOnceTaken(_ cause: FailureCause) {
        if receiving.isOver, receiving.isError { return finish(trailers: nil) }
        guard receiving.isPaused, !receiving.isOver, attempt != nil else { return fail(cause) }
        // Once all had come, nothing is missing.
        guard !isInputClosed else { return }
        isInputClosed = true
        receiving.brokenBy = cause
    }

    /// Nothing was sent on the kept connection: another one is as good.
    private func beginAgain() {
        guard let attempt = takeAttempt() else { return }
        close()
        worker.run(attempt)
    }

    /// Ends the attempt, and the connection with it.
    func fail(_ cause: FailureCause) {
        let progress = progress
        let isCut = sending.isUnderWay && !receiving.isError
        guard let attempt = takeAttempt() else { return }
        // A reset has an error.
        if case .lost(nil) = cause, isInputClosed, !isCut { attempt.isEndUnclosed = decoder.endsWithConnection }
        close()
        let failure = Failure.judged(cause, progress: progress)
        worker.end(attempt, with: isToParentProxy ? failure.ofParentProxy : failure)
    }

    func cancel(_ attempt: UpstreamAttempt) {
        if self.attempt === attempt { fail(.cancelled) }
    }

    func shutDown() {
        if attempt != nil { fail(.cancelled) } else { close() }
    }

    // MARK: What is known of it

    private var progress: DirectProgress {
        DirectProgress(
            isSecuring: isSecuring, isOriginSecure: tls != nil && !isToParentProxy, bytesSent: sending.byteCount,
            mayHaveSentMore: sending.waitingByteCount > 0, isSent: sending.isComplete, hasBegunResponse: receiving.hasBegun,
            isAnswered: receiving.isAnswered, isResponseOver: receiving.isOver, isReused: isReused,
            localAddress: context?.channel.localAddress?.ipAddress, remoteAddress: remoteAddress)
    }

    private var connectionFacts: ConnectionFacts {
        ConnectionFacts(
            localAddress: context?.channel.localAddress?.ipAddress, remoteAddress: remoteAddress, reusedConnection: isReused,
            bytesSent: sending.byteCount)
    }

    // MARK: Deadlines

    /// The time of the next action if nothing happens before; nil if none is due.
    ///
    /// A request whose body the client still owes us, or a response that the recipient does not take, is not the origin's silence.
    private var deadline: NIODeadline? {
        if let securedBy { return securedBy }
        guard let timeouts = attempt?.request.timeouts, sending.byteCount > 0 else { return nil }
        if let continueAt = sending.continueAt { return continueAt }
        if receiving.isOver {
            if let withheldUntil { return withheldUntil }
            return sending.awaitsBody ? nil : sending.lastAt + TimeAmount(timeouts.idle ?? worker.options.restStallMax)
        }
        if receiving.isAnswered {
            guard let idle = timeouts.idle, !receiving.isPaused else { return nil }
            return receiving.lastAt + TimeAmount(idle)
        }
        guard let firstByte = timeouts.firstByte, !(sending.awaitsBody && sending.reader?.isComplete == false) else { return nil }
        return sending.lastAt + TimeAmount(firstByte)
    }

    func noteDeadline() {
        if let deadline { worker.deadlines.note(deadline) }
    }

    func checkDeadline(now: NIODeadline) {
        guard let deadline else { return }
        guard deadline <= now else { return worker.deadlines.note(deadline) }
        if sending.continueAt != nil {
            stopAwaitingContinue()
        } else if withheldUntil != nil {
            passOnEnd()
        } else if receiving.isOver, receiving.isError {
            finish(trailers: nil)
        } else {
            fail(.timedOut)
        }
    }
}

// The end of a success that comes before its request was sent (decision 68).

extension DirectConnection {
    /// Whether the last piece of the response is not passed on now.
    private var withholdsEnd: Bool { !receiving.isError && sending.isUnderWay }

    /// - Returns: Whether the head is withheld, because it is all of the response.
    func withholds(_ head: ResponseHead) -> Bool {
        if case .length(let count) = head.framing { receiving.bodyBytesLeft = count }
        guard withholdsEnd, head.framing == .none || head.framing == .length(0) else { return false }
        receiving.withheld = WithheldEnd(head: head)
        return true
    }

    /// - Returns: Whether these bytes are withheld, because they are the last of the response.
    func withholds(_ bytes: ByteBuffer) -> Bool {
        receiving.bodyBytesLeft -= bytes.readableBytes
        guard receiving.bodyBytesLeft == 0, withholdsEnd else { return false }
        receiving.withheld = WithheldEnd(body: bytes)
        return true
    }

    /// The response is complete, and its request is still being sent. Nothing more is read: only the end of the connection matters.
    func completed(trailers: ByteBuffer?, of attempt: UpstreamAttempt) {
        receiving.isOver = true
        sending.lastAt = worker.eventLoop.now
        if receiving.isError {
            attempt.receiver.receive(.complete(trailers: trailers), of: attempt)
        } else {
            let withheld = receiving.withheld ?? WithheldEnd()
            withheld.trailers = trailers
            receiving.withheld = withheld
            if receiving.isAnswered { attempt.receiver.receive(.endWithheld, of: attempt) }
        }
        if self.attempt === attempt { noteDeadline() }
    }

    /// When the end is passed on although the request is not sent; nil where none is withheld.
    var withheldUntil: NIODeadline? {
        guard receiving.withheld != nil, let timeouts = attempt?.request.timeouts else { return nil }
        if sending.isCaughtUp { return sending.lastAt + TimeAmount(worker.options.requestPauseMax) }
        // Without progress for `timeouts.idle` the attempt ends.
        if let idle = timeouts.idle, idle <= worker.options.endWithheldMax { return nil }
        return sending.lastAt + TimeAmount(worker.options.endWithheldMax)
    }

    /// Passes the withheld end on before the request is sent. Either the client pauses, and may wait for the end. Or the origin takes no
    /// bytes; without a proxy the client would have the end by now.
    func passOnEnd() {
        guard let attempt, let withheld = receiving.withheld, passOn(withheld, of: attempt) else { return }
        attempt.receiver.receive(.complete(trailers: withheld.trailers), of: attempt)
        if self.attempt === attempt { noteDeadline() }
        worker.batchEnded()
    }

    /// - Returns: False: the receiver has given the attempt up.
    func passOn(_ withheld: WithheldEnd, of attempt: UpstreamAttempt) -> Bool {
        receiving.withheld = nil
        if let head = withheld.head { passOn(head, of: attempt) }
        if let body = withheld.body, self.attempt === attempt { passOn(body, of: attempt) }
        return self.attempt === attempt
    }
}
