import LayoverTestSupport

/// Makes new inputs out of the corpus: what a careless or hostile sender might write.
struct RequestMutator {
    private var generator: SeededGenerator
    private let corpus: [[UInt8]]

    /// Pieces that framing hangs on.
    private static let pieces: [[UInt8]] = [
        "\r\n", "\n", "\r", "\r\n\r\n", "\r\n ", "\r\n\t", " ", "\t", "\0", "\u{0B}", "\u{7F}", "\u{80}", "\u{FF}", ":", ";", ",", "=", "\"", "#", "@", "/", "?",
        "%00", "0", "1", "5", "f", "0x", "+", "-", "0\r\n\r\n", "5\r\nhello\r\n", "Host: b\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "Connection: close\r\n", "Connection: keep-alive, X-A\r\n", "Connection: Upgrade\r\n",
        "Upgrade: h2c\r\n", "Expect: 100-continue\r\n", "X-A: 1\r\n", "X:\r\n", "Via: 1.1 a (b\r\n", "Trailer: X\r\n", "Layover-Mode: pass\r\n", "HTTP/1.0", "HTTP/1.1",
        "http://", "https://", "a:80", "[::1]", "*", "GET ", "POST ", "CONNECT ", "OPTIONS ", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ";x=\"y\"", "ffffffffffffffff",
    ].map(latin1)

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        // Inputs that are long only to pass a limit would take all the time.
        corpus = (AcceptedRequest.all.map(\.bytes) + RefusedRequest.all.map(\.bytes))
            .filter { $0.count < 1_000 }
    }

    mutating func number(below limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &generator) }

    private mutating func sample() -> [UInt8] { corpus[number(below: corpus.count)] }

    mutating func next() -> [UInt8] {
        // Mostly from what is well-formed: one flaw in a good request is what slips through.
        var bytes = number(below: 4) == 0
            ? sample() : AcceptedRequest.all[number(below: AcceptedRequest.all.count)].bytes
        for _ in 0..<number(below: 4) { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = number(below: bytes.count + 1)
        let end = min(bytes.count, place + number(below: 8))
        switch number(below: 7) {
        case 0: bytes.insert(contentsOf: Self.pieces[number(below: Self.pieces.count)], at: place)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: end)
        case 3: if place < bytes.count { bytes[place] = UInt8(number(below: 256)) }
        case 4: if place < bytes.count { bytes[place] ^= 1 << UInt8(number(below: 8)) }
        case 5: bytes.insert(contentsOf: sample(), at: place)
        default: insertFieldLine(&bytes)
        }
    }

    /// Puts a piece at the beginning of a line, where fields stand.
    private mutating func insertFieldLine(_ bytes: inout [UInt8]) {
        let starts = bytes.indices.filter { $0 > 0 && bytes[$0 - 1] == 0x0A }
        guard !starts.isEmpty else { return }
        let piece = Self.pieces[number(below: Self.pieces.count)]
        bytes.insert(contentsOf: piece, at: starts[number(below: starts.count)])
    }

    /// Ascending offsets to cut an input of that length at.
    mutating func cuts(byteCount: Int) -> [Int] {
        (0..<number(below: 6)).map { _ in number(below: byteCount + 1) }.sorted()
    }
}
