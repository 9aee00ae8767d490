import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// A response that broke off on its way to its recipient, and goes on (`ResumableResponse`).
extension Exchange {
    /// The part of the response that breaks off now, if its rest can be asked for.
    func resumableResponse() -> ResumableResponse? {
        let request = ResumableRequest(
            method: request.method, purpose: request.purpose, hasRange: request.fields.contains { $0.isNamed("range") },
            mayGoElsewhere: client != nil && (keySearch != nil || conversion != nil))
        return recipient.part?.resumable(to: request, now: loop.wallSeconds)
    }

    /// Whether the ticket waits in the store, and what has come of its response waits here.
    var isAtRestWithPart: Bool { phase.isParked && machine.holder.isStored && machine.resumable != nil }

    /// Whether a stop of the proxy waits for it.
    var mustFinish: Bool {
        if store != nil { return !isAtRestWithPart }
        // The client has its response and is gone; a part of its request is still here.
        return phase.isUnattended || client != nil && phase.isDelivering
    }

    private var circumstances: ExchangeMachine.Circumstances {
        .init(request: summary, network: loop.network.condition, now: loop.engine.clock.now())
    }

    /// The response to the request for the rest has come.
    func continued(by head: ResponseHead) {
        let step = machine.continued(by: ResumeFacts(head, now: loop.wallSeconds), in: circumstances, using: &loop.generator)
        switch step {
        case .goOn:
            client?.connection?.access?.resumedCount += 1
            loop.metrics.resumedResponseCount.increment()
            originAnswered(.deliver(.answered), status: head.status)
        case .replace:
            recipient.discard()
            received(head, sendings: 1)
        case .failed(let step): endAttempt(step)
        }
    }

    private func endAttempt(_ step: ExchangeMachine.FailureStep) {
        run.cancel()
        follow(step)
    }

    /// Discards the part of a response that has come, unless the response goes on.
    func discardUnlessResumed() { if machine.resumable == nil { recipient.discard() } }

    /// Passes on what the recipient does not have yet.
    func receiveContinuation(_ bytes: ByteBuffer) {
        switch machine.continuationCame(bytes.readableBytes) {
        case .pass(let skipped):
            var rest = bytes
            rest.moveReaderIndex(forwardBy: skipped)
            run.taken(skipped)
            if rest.readableBytes > 0 { run.taken(recipient.receive(rest, of: self)) }
        case .refused(let refusal): endAttempt(machine.refused(refusal, in: circumstances, using: &loop.generator))
        }
    }
}

extension Failure {
    /// The origin sent less of the rest than there is.
    static var partIsOver: Failure {
        Failure(
            phase: .receiving, kind: .httpResponseIncomplete, evidence: .answered,
            message: "The origin sent only a part of the rest of its response.")
    }
}

extension UpstreamRequest {
    /// The same request for what is missing of its response. Fields of the client's own that say otherwise are replaced.
    func forTheRest(of response: ResumableResponse) -> UpstreamRequest {
        var request = self
        request.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
        request.fields.append("Range", response.range)
        request.fields.append("If-Range", response.validator.text)
        return request
    }
}

extension ResumeFacts {
    /// - Parameter now: Seconds since 1970.
    init(_ head: ResponseHead, now: Int) {
        self.init(status: head.status, contentLength: head.contentLength)
        let fields = head.fields()
        // Of two validators nobody can say which one counts: what is joined is neither strong nor equal to one.
        func text(_ name: StaticString) -> String? {
            let values = fields.values(of: name).map { fields.string($0) }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        entityTag = text("etag")
        lastModified = text("last-modified")
        lastModifiedSeconds = lastModified.flatMap { HTTPDate.seconds($0, now: now) }
        dateSeconds = text("date").flatMap { HTTPDate.seconds($0, now: now) }
        acceptRanges = text("accept-ranges")
        contentType = text("content-type")
        contentEncoding = text("content-encoding")
        contentRange = text("content-range")
        contentRangeCount = fields.values(of: "content-range").count
        retryAfter = head.retryAfter(now: now)
    }
}
