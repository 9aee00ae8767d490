import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverText
import NIOCore

/// A response that broke off on its way to its client, and goes on (`ResumableResponse`).
extension Exchange {
    /// What has come of the response that breaks off now, if its rest may be asked for.
    ///
    /// Not where others get it too, or where the client may get a ticket instead; nor where the client asked for a part itself: the
    /// places in that are relative.
    func resumableResponse() -> ResumableResponse? {
        guard let client, client.connection != nil, request.method == "GET", request.purpose == .transfer, keySearch == nil,
            conversion == nil, machine.rules.policy.mode != .pass, !request.fields.contains(where: { $0.isNamed("range") })
        else { return nil }
        return client.response.resumable(now: loop.wallSeconds)
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
        guard let skipped = machine.continuationCame(bytes.readableBytes) else {
            guard case .breakOff(let failure) = machine.refused(.tooLong, at: loop.engine.clock.now()) else { return }
            run.cancel()
            return recipient.breakOff(failure, of: self)
        }
        var rest = bytes
        rest.moveReaderIndex(forwardBy: skipped)
        run.taken(skipped)
        if rest.readableBytes > 0 { run.taken(recipient.receive(rest, of: self)) }
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
        func only(_ name: StaticString) -> String? {
            let values = fields.values(of: name).map { fields.string($0) }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        entityTag = only("etag")
        lastModified = only("last-modified")
        lastModifiedSeconds = lastModified.flatMap { HTTPDate.seconds($0, now: now) }
        dateSeconds = only("date").flatMap { HTTPDate.seconds($0, now: now) }
        acceptRanges = only("accept-ranges")
        contentType = only("content-type")
        contentEncoding = only("content-encoding")
        contentRange = only("content-range")
        contentRangeCount = fields.values(of: "content-range").count
        retryAfter = head.retryAfter(now: now)
    }
}
