import LayoverHTTP
import LayoverTestSupport
import Testing

/// For every body of an upstream: no size or length traps, what is said does not depend on how the bytes were cut, and
/// a body that is whole comes out as it went in.
struct ResponseBodyFuzzTests {
    @Test func wholeChunkedBodiesAreReadHoweverTheyAreCut() {
        fuzz("chunked response", roundCount: 5_000, ResponseBodyMutator.init(seed:)) { mutator in
            let body = mutator.body()
            let trailers = mutator.trailers()
            let next = latin1(mutator.pick(["", "H", "HTTP/1.1 200 OK\r\n\r\n"]))
            let head = latin1("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let bytes = mutator.chunked(body) + latin1(trailers + "\r\n") + next
            let cuts = mutator.cuts(byteCount: bytes.count)
            let decoded = DecodedResponse(of: head + bytes, cuts: cuts.map { $0 + head.count })
            let wantedTrailers = trailers.isEmpty ? nil : trailers
            if decoded.isComplete, decoded.body == body, decoded.trailers == wantedTrailers, decoded.rest == next { return nil }
            return "cut at \(cuts): \(String(decoding: bytes, as: UTF8.self).debugDescription)"
        }
    }

    @Test func noSizeFromAnUpstreamTraps() {
        var (endedCount, refusedCount) = (0, 0)
        let roundCount = fuzz("response body", roundCount: 5_000, ResponseBodyMutator.init(seed:)) { mutator in
            let (field, bytes) = mutator.next()
            let head = latin1("HTTP/1.1 403 No\r\n\(field)\r\n\r\n")
            // As an upgrade that the origin may answer otherwise.
            let whole = DecodedResponse(of: head + bytes, allowsUpgrade: true)
            if whole.isComplete { endedCount += 1 }
            if whole.error != nil { refusedCount += 1 }
            let cuts = mutator.cuts(byteCount: bytes.count)
            let parts = DecodedResponse(of: head + bytes, allowsUpgrade: true, cuts: cuts.map { $0 + head.count })
            let input = "\(field), \(String(decoding: bytes, as: UTF8.self).debugDescription)"
            if parts != whole { return "differs when cut at \(cuts): \(input)" }
            if whole.body.count + whole.rest.count > bytes.count { return "more bytes out than in: \(input)" }
            if case .length(let length)? = whole.framings.last {
                let isRight = whole.body == Array(bytes.prefix(length)) && whole.isComplete == (bytes.count >= length)
                if !isRight { return "not the length that was said: \(input)" }
            }
            return nil
        }
        // A fuzzer that makes only garbage, or none, tests nothing.
        #expect(endedCount * 8 > roundCount && refusedCount * 8 > roundCount)
    }
}

/// Makes bodies as an upstream frames them, well or not.
private struct ResponseBodyMutator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let sizes = [
        "", "0", "00", "1", "-1", "+1", " 5", "5 ", "0x5", "5;", "5;=", "g", "7fffffff", "80000000", "ffffffff", "100000000",
        "fffffffffffffff", "FFFFFFFFFFFFFFE", "1000000000000000", "7ffffffffffffffe", "7fffffffffffffff", "8000000000000000",
        "ffffffffffffffff",
        "10000000000000000", "000000000000005", "0000000000000005", "5;a=\"", "5;a=\"\\", String(repeating: "0", count: 1_022),
        "5;" + String(repeating: "a", count: 1_100),
    ]
    private static let lengths = [
        "0", "1", "5", "00000000000000000000005", "-1", "+5", " ", "", "5,5", "0x5", "2147483648", "4294967296", "9007199254740993",
        "999999999999999999", "9223372036854775806", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1e3",
    ]
    private static let extensions = ["", "", ";a", ";a=b", ";a=\"x; y\\\"\"", ";a;b=1;c=\"\""]

    mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func pick(_ values: [String]) -> String { values[number(in: 0...(values.count - 1))] }

    mutating func body() -> [UInt8] { (0..<number(in: 0...200)).map { _ in UInt8(number(in: 0...255)) } }

    /// Ascending offsets to cut an input of that length at; now and then between all bytes.
    mutating func cuts(byteCount: Int) -> [Int] {
        if number(in: 0...7) == 0 { return Array(0...byteCount) }
        return (0..<number(in: 0...6)).map { _ in number(in: 0...byteCount) }.sorted()
    }

    /// Lines as they are passed on.
    mutating func trailers() -> String { pick(["", "", "X-A: y\r\n", "X-A: y\r\nX-B: z z\r\n"]) }

    /// All chunks, the last one included, without trailers and the empty line.
    mutating func chunked(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(number(in: 1...rest.count))
            bytes += sizeLine(chunk.count) + chunk + latin1("\r\n")
            rest = rest.dropFirst(chunk.count)
        }
        return bytes + sizeLine(0)
    }

    private mutating func sizeLine(_ byteCount: Int) -> [UInt8] {
        let digits = String(byteCount, radix: 16, uppercase: number(in: 0...1) == 0)
        // As many zeros as are allowed before it.
        let zeros = String(repeating: "0", count: number(in: 0...3) == 0 ? 15 - digits.utf8.count : 0)
        return latin1(zeros + digits + pick(Self.extensions) + "\r\n")
    }

    /// The field that frames a body, and the body.
    mutating func next() -> (field: String, bytes: [UInt8]) {
        switch number(in: 0...7) {
        case 0: return ("Content-Length: \(pick(Self.lengths))", body())
        case 1, 2:
            let body = body()
            return ("Content-Length: \(body.count)", body)
        default: break
        }
        var bytes = latin1(pick(["", "3\r\nabc\r\n"]))
        if number(in: 0...1) == 0 { bytes += latin1(pick(Self.sizes) + "\r\nhello\r\n") }
        bytes += chunked(body()) + latin1(trailers() + "\r\n")
        for _ in 0..<number(in: 0...2) {
            let place = number(in: 0...(bytes.count - 1))
            if number(in: 0...1) == 0 { bytes[place] = UInt8(number(in: 0...255)) } else { bytes.remove(at: place) }
        }
        return ("Transfer-Encoding: chunked", bytes)
    }
}
