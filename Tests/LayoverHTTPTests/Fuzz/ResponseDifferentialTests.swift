import LayoverHTTP
import LayoverTestSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// Every response that our decoder accepts, NIO's (llhttp) must read the same way: two readings of one response are how an answer is
/// put into another's place.
struct ResponseDifferentialTests {
    static let corpus = [
        "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: keep-alive, X-A\r\nX-A: 1\r\n\r\nhello",
        "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 7\r\nSet-Cookie: a=b\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5\r\nEmpty:\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 500 Oh no\r\nTransfer-Encoding: Chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
        "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na",
        // Forms that are taken of responses only.
        "HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length : 2, 2\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.0 200 OK\nX: y\nContent-Length: 2\n\nab",
        "HTTP/1.2 200\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n3  \r\nabc\r\n2 ; x = y ;z\r\nde\r\n0  \r\nX-T : 1\r\n\r\n",
    ].map(latin1)

    static let pieces = [
        "\r\n", "\n", "\r", " ", "\t", "\0", ":", ",", ";", "0", "1", "a", "f", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Connection: close\r\n", "HTTP/1.1 ", "100 Continue\r\n\r\n", "0\r\n\r\n", "\u{80}",
        "X: y\r\n", "Transfer-Encoding: identity\r\n", " :", ", 5",
    ].map(latin1)

    @Test func acceptedResponseIsReadTheSameByLlhttp() {
        var acceptedCount = 0
        let roundCount = fuzz("response differential", roundCount: 10_000, SeededGenerator.init(seed:)) { generator in
            var bytes = Self.corpus.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0..<4, using: &generator) { bytes.mutate(with: Self.pieces, removing: 0..<4, using: &generator) }
            let isHeadRequest = Int.random(in: 0..<6, using: &generator) == 0
            let ours = DecodedResponse(of: bytes, isHeadRequest: isHeadRequest)
            let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &generator) }.sorted()
            let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).debugDescription
            guard DecodedResponse(of: bytes, isHeadRequest: isHeadRequest, cuts: cuts) == ours else {
                return "differs when cut at \(cuts): \(text)"
            }
            guard ours.isComplete else { return nil }
            acceptedCount += 1
            let theirs = OtherReading(of: Array(bytes.dropLast(ours.rest.count)), isHeadRequest: isHeadRequest)
            return theirs.difference(from: ours).map { "\($0) in \(text)" }
        }
        #expect(acceptedCount * 6 > roundCount, "a fuzzer that makes only garbage tests nothing")
    }
}

/// Result of NIO's decoder for the same bytes.
private struct OtherReading {
    var statuses: [Int] = []
    var body: [UInt8] = []
    var isComplete = false
    var error: (any Error)?

    init(of bytes: [UInt8], isHeadRequest: Bool) {
        let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
        let channel = EmbeddedChannel(handler: ByteToMessageHandler(decoder))
        let head = HTTPRequestHead(version: .http1_1, method: isHeadRequest ? .HEAD : .GET, uri: "/")
        do {
            try channel.writeOutbound(HTTPClientRequestPart.head(head))
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        } catch {
            self.error = error
        }
        while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
            switch part {
            case .head(let head): statuses.append(Int(head.status.code))
            case .body(let bytes): body.append(contentsOf: bytes.readableBytesView)
            case .end: isComplete = true
            }
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    /// The difference between this result and ours; nil if none. Input that llhttp refuses is not compared.
    func difference(from ours: DecodedResponse) -> String? {
        if error != nil, statuses.count < ours.statuses.count || !isComplete { return nil }
        if statuses != ours.statuses { return "heads \(statuses), not \(ours.statuses)" }
        if body != ours.body { return "another body, of \(body.count) bytes and not \(ours.body.count)" }
        return isComplete ? nil : "not complete"
    }
}
