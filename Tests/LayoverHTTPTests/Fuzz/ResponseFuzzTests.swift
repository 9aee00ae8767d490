import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

/// For every response of an upstream: nothing crashes, and a head that goes on is well-formed, contains
/// nothing that frames or concerns the connection, and stays as it is when it is read again.
struct ResponseFuzzTests {
    static let corpus = [
        "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: keep-alive, X-A\r\nX-A: 1\r\nX-B: 2\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 No\r\nVia: 1.1 a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 7\r\nSet-Cookie: a=b\r\nSet-Cookie: \u{FF}\r\n\r\n",
        "HTTP/1.1 204\r\nContent-Length: 0\r\nKeep-Alive: timeout=5\r\nTrailer: X\r\nEmpty:\r\n\r\n",
    ].map(latin1)

    static let pieces = [
        "\r\n", "\n", "\r", " ", "\t", "\0", ":", ",", "Connection: X-B, Via\r\n", "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n", "HTTP/1.1 ", "103", "99", "\u{80}",
        "Upgrade: x\r\n", "Proxy-Authenticate: y\r\n", " folded\r\n",
    ].map(latin1)

    @Test func mutatedResponsesKeepTheInvariants() {
        var assembler = ResponseHeadAssembler()
        var acceptedCount = 0
        let roundCount = fuzz("response", roundCount: 20_000, SeededGenerator.init(seed:)) { generator in
            var bytes = Self.corpus.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0..<4, using: &generator) { bytes.mutate(with: Self.pieces, removing: 0..<6, using: &generator) }
            assembler.reset(isHeadRequest: Bool.random(using: &generator))
            let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
            for head in (try? responseHeads(text, to: &assembler)) ?? [] {
                acceptedCount += 1
                if let flaw = Self.flaw(of: head) { return "\(flaw) in \(text.debugDescription)" }
            }
            return nil
        }
        #expect(acceptedCount * 5 > roundCount)
    }

    private static func flaw(of head: ResponseHead) -> String? {
        for field: KnownField in [.connection, .keepAlive, .transferEncoding, .upgrade, .proxyAuthenticate]
        where head.fields().contains(field) {
            return "forwards \(field)"
        }
        var again = ResponseHeadAssembler()
        // As the response to HEAD, so that a Content-Length that was kept is kept again.
        again.reset(isHeadRequest: true)
        guard let second = try? responseHeads(head.bytes.visibleBytes + "\r\n", to: &again).first else {
            return "the head that goes on is malformed"
        }
        return second.bytes == head.bytes && second.status == head.status ? nil : "not the same again"
    }
}

extension ByteBuffer {
    /// The bytes as Latin-1.
    fileprivate var visibleBytes: String {
        String(String.UnicodeScalarView(readableBytesView.map { Unicode.Scalar($0) }))
    }
}

extension [UInt8] {
    /// Changes one place: a piece more, some bytes fewer, another byte, or a piece more at the beginning of a line.
    ///
    /// - Parameter counts: How many bytes may go at once.
    mutating func mutate(with pieces: [[UInt8]], removing counts: Range<Int>, using generator: inout SeededGenerator) {
        let place = Int.random(in: 0...count, using: &generator)
        let end = Swift.min(count, place + Int.random(in: counts, using: &generator))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
        case 1: removeSubrange(place..<end)
        case 2: if place < count { self[place] = .random(in: 0...255, using: &generator) }
        default:
            // Where fields stand.
            let start = self[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: start)
        }
    }
}
