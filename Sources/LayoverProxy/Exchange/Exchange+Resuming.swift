import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// A response that broke off on its way to its client, and goes on (`ResumableResponse`).
extension Exchange {
    /// What has come of the response that breaks off now, if its rest can be asked for.
    func resumableResponse() -> ResumableResponse? {
        guard let client, client.connection != nil else { return nil }
        let request = ResumableRequest(
            method: request.method, purpose: request.purpose, hasRange: request.fields.contains { $0.isNamed("range") },
            mayGoElsewhere: keySearch != nil || conversion != nil)
        return client.response.resumable(to: request, now: loop.wallSeconds)
    }

    /// The response to the request for the rest has come.
    func continued(by head: ResponseHead) {
        let step = machine.continued(
            by: ResumeFacts(head, now: loop.wallSeconds),
            in: .init(request: summary, isNetworkAway: loop.network.isAway, now: loop.engine.clock.now()), using: &loop.generator)
        switch step {
        case .goOn:
            client?.connection?.access?.resumedCount += 1
            loop.metrics.resumedResponseCount.increment()
            originAnswered(.deliver(.answered), status: head.status)
        case .park(let failure, let parking):
            run.cancel()
            park(failure, parking)
        case .breakOff(let failure):
            run.cancel()
            recipient.breakOff(failure, of: self)
        }
    }

    /// Passes on what the client does not have yet.
    func receiveContinuation(_ bytes: ByteBuffer) {
        switch machine.continuationCame(bytes.readableBytes, at: loop.engine.clock.now()) {
        case .pass(let skipped):
            var rest = bytes
            rest.moveReaderIndex(forwardBy: skipped)
            run.taken(skipped)
            if rest.readableBytes > 0 { run.taken(recipient.receive(rest, of: self)) }
        case .breakOff(let failure):
            run.cancel()
            recipient.breakOff(failure, of: self)
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
