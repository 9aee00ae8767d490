import LayoverEngine
import LayoverHTTP
import NIOCore

// The end of a success that comes before its request was sent (decision 68).

extension DirectConnection {
    /// Whether the last piece of the response is not passed on now.
    private var withholdsEnd: Bool { !receiving.isError && sending.goesOn }

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
