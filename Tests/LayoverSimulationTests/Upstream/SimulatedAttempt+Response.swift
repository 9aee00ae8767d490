import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The response on its way back.
extension SimulatedAttempt {
    /// The head of the response, and the bytes that follow it.
    private struct Response {
        var status: Int
        var fields: [String] = []
        var isChunked = false
        /// Default (nil): bytes without a version.
        var representation: Representation?
        var places: Range<Int>
        /// Bytes that the head does not speak of.
        var surplusCount = 0
        /// Bytes at the end of the part that Content-Range names, and neither Content-Length nor the body has.
        var omittedCount = 0
    }

    func sendHead(_ reply: Fate.Reply) {
        guard !isOver else { return }
        hasHead = true
        truth.hasHead = true
        // The origin refused the request before it did any work.
        if reply.status == 429 { truth.sendings.removeAll { $0 == attempt.number } }
        let hasBody = truth.method != "HEAD" && ![204, 304].contains(reply.status)
        let response = response(reply)
        if restStart != nil {
            truth.download.restWasAskedFor(isEnd: reply.isNotTheRest)
            // Nobody has read of it yet, so that all of it can be asked for.
            if isOfTicket, reply.isNotTheRest { truth.download.forgetBreak() }
        }
        let count = response.places.count
        var fields = ["X-Request: \(truth.number)", "X-Attempt: \(attempt.number)"]
        if let retryAfter = reply.retryAfter { fields.append("Retry-After: \(retryAfter)") }
        if reply.forbidsRetry { fields.append("X-Should-Retry: false") }
        if reply.status != 204 {
            fields.append(
                response.isChunked && truth.method != "HEAD"
                    ? "Transfer-Encoding: chunked" : "Content-Length: \(count - response.omittedCount)")
        }
        fields.append("X-Length: \(hasBody ? count : 0)")
        deliver([head("HTTP/1.1 \(response.status) Simulated", fields + response.fields)])
        if Int.random(in: 0..<25, using: &generator) == 0 { simulation.cancelWhileAnswered(truth) }
        var left = response
        if !hasBody { left.places = 0..<0 }
        left.places = left.places.lowerBound..<left.places.upperBound + left.surplusCount - left.omittedCount
        sendBody(left, reply, sentCount: 0)
    }

    private func response(_ reply: Fate.Reply) -> Response {
        var response = Response(status: reply.status, isChunked: reply.isChunked, places: 0..<reply.bodyByteCount)
        guard reply.status == 200, truth.method == "GET" else { return response }
        if restStart == nil { simulation.referee.asksForAll(self) }
        if let start = restStart, let known = truth.download.representation { return rest(of: known, from: start, reply) }
        guard reply.isTagged else {
            truth.download.beginWithoutTag()
            return response
        }
        let isWeak = reply.isWeaklyTagged
        let new = truth.download.begin(
            number: truth.number, byteCount: reply.bodyByteCount, canGoOn: !isWeak && !reply.isChunked && reply.bodyByteCount > 0)
        response.representation = new
        response.fields = [isWeak ? "ETag: W/\(new.tag)" : "ETag: \(new.tag)"]
        return response
    }

    /// Where the part begins that is asked for.
    private var restStart: Int? {
        let range = attempt.request.fields.first { $0.isNamed("range") }?.text
        return range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    private func rest(of known: Representation, from start: Int, _ reply: Fate.Reply) -> Response {
        let condition = attempt.request.fields.first { $0.isNamed("if-range") }?.text
        simulation.referee.asksForTheRest(self, from: start, condition)
        let total = known.byteCount
        let other = Representation(number: known.number, version: known.version + 1000, byteCount: total)
        simulation.trace { "\(self.name) asks for the rest from \(start), and gets: \(reply.rest)" }
        if !reply.rest.isGood { truth.hasBrokenResponse = true }
        if reply.rest == .changed || condition != known.tag {
            truth.download.isReplaced(by: other)
            return Response(status: 200, fields: ["ETag: \(other.tag)"], representation: other, places: 0..<total)
        }
        guard start < total else { return Response(status: 416, fields: ["Content-Range: bytes */\(total)"], places: 0..<0) }
        var first = start
        var last = total - 1
        var response = Response(status: 206, isChunked: reply.isChunked, representation: known, places: 0..<0)
        var tag: String? = known.tag
        var totalText = "\(total)"
        switch reply.rest {
        case .right, .changed: break
        case .overlapping: first = start / 2
        case .short: last = start + (last - start) / 2
        case .ofUnknownTotal: totalText = "*"
        case .otherTag: (response.representation, tag) = (other, other.tag)
        case .noTag: (response.representation, tag) = (other, nil)
        case .startsTooLate: first = min(last, start + 1)
        case .tooLong:
            response.isChunked = true
            response.surplusCount = 30
        case .ofOtherLength: (response.isChunked, response.omittedCount) = (false, last - first > 0 ? 1 : 0)
        case .otherEncoding:
            response.representation = other
            response.fields.append("Content-Encoding: gzip")
        case .severalParts:
            response.representation = other
            response.fields.append("Content-Type: multipart/byteranges; boundary=x")
        }
        response.fields.append("Content-Range: bytes \(first)-\(last)/\(totalText)")
        if let tag { response.fields.append("ETag: \(tag)") }
        response.places = first..<last + 1
        return response
    }

    private func sendBody(_ response: Response, _ reply: Fate.Reply, sentCount: Int) {
        guard !isOver else { return }
        let left = response.places
        if left.isEmpty {
            simulation.referee.partEnded(self, response.representation)
            return deliver([.end(trailers: nil)])
        }
        if attempt.bytesOutstanding.load(ordering: .relaxed) > 256 << 10 {
            attempt.isReceivingPaused.store(true, ordering: .releasing)
            goesOnSending = { [weak self] in self?.sendBody(response, reply, sentCount: sentCount) }
            return
        }
        if let diesAfter = reply.diesAfter, sentCount >= diesAfter {
            return fail(.httpResponseIncomplete, .receiving, .answered)
        }
        let count = min(left.count, reply.partByteCount ?? max(100, reply.bodyByteCount / 4))
        let end = left.lowerBound + count
        if let representation = response.representation {
            deliver([.body(ByteBuffer(bytes: (left.lowerBound..<end).map(representation.byte)))])
            truth.download.came(upTo: end, of: representation)
        } else {
            deliver([.body(ByteBuffer(repeating: UInt8(truth.number & 0x7f), count: count))])
        }
        var rest = response
        rest.places = end..<left.upperBound
        later(reply.pace) { $0.sendBody(rest, reply, sentCount: sentCount + count) }
    }
}
