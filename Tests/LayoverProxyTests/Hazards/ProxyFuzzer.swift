import LayoverCore
import LayoverTestSupport

/// Makes requests and responses whose values lie at the edges of what their types can say.
struct ProxyFuzzer {
    private var generator: SeededGenerator

    /// Numbers that break arithmetic: the ends of Int32, UInt32, Int53, Int64 and UInt64, and texts that are nearly
    /// numbers.
    private static let numbers = [
        "0", "1", "2", "-1", "-0", "+1", "00000000000000000000000000000001", "2147483647", "2147483648", "4294967295", "4294967296",
        "9007199254740993", "999999999999", "1000000000000", "9223372035", "9223372036", "9223372036854775", "9223372036854775806",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999999999999999999", "1e308", "1e309", "-1e309", "1e999999999", "nan", "-nan", "inf",
        "infinity", "0x7fffffffffffffff", "1.5", "1_000", "\u{0661}", "", " ", "1 2", "1,2", "\"1\"", "NaN(1)",
    ]

    private static let dates = [
        "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:60 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", "Sun Nov  6 08:49:37 0000",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-99 23:59:60 GMT", "Mon, 31 Feb 2026 00:00:00 GMT", "0", "yesterday",
    ]

    /// An origin whose answers a cache keeps.
    private static let keptHost = "kept.test"

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }
    mutating func number() -> String {
        chance(6) ? String(Int.random(in: .min ... .max, using: &generator)) : pick(Self.numbers)
    }
    /// Hexadecimal, where the ends of the types lie elsewhere.
    private mutating func chunkSize() -> String {
        pick([
            number(), "7fffffff", "80000000", "fffffffff", "fffffffffffffff", "1000000000000000", "7ffffffffffffff0", "7fffffffffffffff",
            "8000000000000000", "ffffffffffffffff", "10000000000000000", "000000000000003", "3;a=\(number())",
        ])
    }
    private mutating func time() -> String { chance(2) ? number() : pick(Self.dates) }

    /// Durations to move the clock by.
    mutating func step() -> Duration { pick([.zero, .milliseconds(1), .seconds(1), .seconds(30), .seconds(3600)]) }

    // MARK: Requests

    mutating func request(tickets: [EntryID]) -> [UInt8] {
        let ticket = tickets.isEmpty || chance(4) ? EntryID(using: &generator) : pick(tickets)
        var bytes = (chance(4) ? reading() : chance(3) ? own(ticket) : forwarded(ticket)).latin1
        guard chance(4) else { return bytes }
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            if chance(2) { bytes[place] = .random(in: 0...255, using: &generator) } else { bytes.remove(at: place) }
        }
        return bytes
    }

    /// Reads one of a few things that the cache keeps, so that it finds what it kept.
    private mutating func reading() -> String {
        var fields = ["Host: \(Self.keptHost)"]
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            let text = number()
            let field: String = pick([
                "Cache-Control: max-age=\(text)", "Cache-Control: max-stale=\(text), min-fresh=\(number())", "Cache-Control: max-stale",
                "Cache-Control: stale-if-error=\(text)", "Cache-Control: only-if-cached, max-stale=\(text)", "If-Modified-Since: \(time())",
                "If-None-Match: \"\(text)\"", "If-Unmodified-Since: \(time())", "Range: bytes=\(text)-\(number())", "Pragma: no-cache",
            ])
            fields.append(field)
        }
        let line: String = "\(pick(["GET", "GET", "GET", "HEAD"])) http://\(Self.keptHost)/\(pick(["a", "b"]))"
        return "\(line) HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private mutating func own(_ ticket: EntryID) -> String {
        let id: String = pick([
            "\(ticket)", String("\(ticket)".dropLast()), "\(ticket)\(ticket)", number(), "%00", "~", "\(ticket)".uppercased(),
        ])
        let path: String = pick([
            "/.layover/tickets/\(id)", "/.layover/tickets/\(id)/response", "/.layover/tickets/\(id)/\(number())", "/.layover/tickets/",
            "/.layover/route/api/~key/\(number())", "/.layover/route/api/~\(number())", "/.layover/route/\(number())/x",
            "/.layover/route/open?expires=\(number())&signature=a&awsaccesskeyid=b", "/.layover/\(number())", "/\(number())", "*", "/",
        ])
        let fields = [
            "Host: \(pick(["localhost", "localhost:\(number())", "[::1]:8080", "dev.test", "[\(number())]"]))", field(ticket),
            field(ticket),
        ]
        return "\(pick(["GET", "GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "POST"])) \(path) HTTP/1.1\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private mutating func forwarded(_ ticket: EntryID) -> String {
        let token: String = pick([
            "~ticket.\(ticket).json.\(number())~", "~ticket.\(ticket).json.a.\(number())~", "~ticket.\(ticket).location~", "~uuid~",
            number(),
        ])
        let authority: String = pick([
            "o.test", "o.test", "o.test:\(number())", "[::\(number())]", "\(number())", "hosted.test", "\(number())@o.test",
        ])
        let path: String = pick([
            "/", "/\(number())?n=\(number())", "/\(token)", "", "?\(number())",
            "/?X-Amz-Algorithm=a&X-Amz-Signature=b&X-Amz-Date=20260101T000000Z&X-Amz-Expires=\(number())",
        ])
        let target = "\(pick(["http", "http", "https", "ftp"]))://\(authority)\(path)"
        let body: String = pick(["", "abc", "{\"a\":\"\(token)\"}", "n=\(token)"])
        var fields = ["Host: o.test", "Content-Type: \(pick(["application/json", "application/x-www-form-urlencoded", "text/plain"]))"]
        for _ in 0..<Int.random(in: 0...4, using: &generator) { fields.append(field(ticket)) }
        var sent = body
        switch pick([0, 0, 0, 1, 2, 3]) {
        case 0: fields.append("Content-Length: \(body.utf8.count)")
        case 1: fields.append("Content-Length: \(number())")
        case 2:
            fields.append("Transfer-Encoding: chunked")
            let size = String(body.utf8.count, radix: 16)
            sent = body.isEmpty ? "" : "\(pick([size, size, chunkSize()]))\r\n\(body)\r\n"
            sent += "\(pick(["0", chunkSize()]))\r\n\r\n"
        default: fields.append("Transfer-Encoding: \(pick(["Chunked", number()]))")
        }
        let line =
            chance(10) ? "CONNECT o.test:\(number())" : "\(pick(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "TRACE"])) \(target)"
        return "\(line) HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + sent
    }

    private mutating func field(_ ticket: EntryID) -> String {
        let text = number()
        return pick([
            "Prefer: wait=\(text)", "Prefer: respond-async, wait=\(text)", "Prefer: respond-async",
            "Prefer: wait=\"\(text)\";a=\(number())",
            "Priority: u=\(text)", "Priority: u=\(text), i;u=\(number())", "Max-Forwards: \(text)", "Layover-Mode: \(text)",
            "Layover-Mode: hold",
            "Layover-Mode: defer", "Layover-Policy: \(text)", "Layover-Policy: retrying", "Layover-Lane: \(text)",
            "Layover-After: \(ticket)",
            "Layover-After: \(text),\(ticket)", "Layover-Key: \(text)", "Idempotency-Key: \(text)", "Content-Length: \(text)",
            "Expect: 100-continue",
            "Range: bytes=\(text)-\(number())", "If-Modified-Since: \(time())", "Cache-Control: max-age=\(text), max-stale=\(number())",
            "Date: \(time())",
            "Connection: \(text)", "Keep-Alive: timeout=\(text)", "Via: 1.\(text) a (\(number())",
            "Authorization: Bearer a.\(Self.claim(text)).c",
            "Signature-Input: a=(\"b\");expires=\(text)", "DPoP: a.\(Self.claim(text)).c", "X-Amz-Date: \(text)", "Origin: \(text)",
            "Upgrade: websocket",
            "Connection: upgrade", "TE: trailers;q=\(text)", "X-Token: ~ticket.\(ticket).json.\(text)~", "Age: \(text)",
            "Content-Encoding: \(text)",
        ])
    }

    /// The payload of a JWT with such an `exp`, in base64url without padding (RFC 7515 section 2).
    private static func claim(_ exp: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var text = ""
        var (bits, bitCount) = (0, 0)
        for byte in "{\"exp\":\(exp)}".utf8 {
            (bits, bitCount) = ((bits << 8 | Int(byte)) & 0xFFFF, bitCount + 8)
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[bits >> bitCount & 63])
            }
        }
        if bitCount > 0 { text.append(alphabet[bits << (6 - bitCount) & 63]) }
        return text
    }

    // MARK: Answers

    /// The behaviour of an origin at an attempt.
    mutating func answer(_ attempt: ScriptedAttempt) {
        let isKept = attempt.request.origin.host == Self.keptHost
        let fields = [
            "Retry-After: \(time())", "Retry-After-Ms: \(number())", "Age: \(number())", "Date: \(time())", "Expires: \(time())",
            "Cache-Control: max-age=\(number())", "Cache-Control: stale-if-error=\(number()), s-maxage=\(number())",
            "Last-Modified: \(time())",
            "X-Should-Retry: \(number())", "Location: http://o.test:\(pick(Self.numbers.filter { !$0.contains(" ") }))/",
        ].filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }
        guard attempt.request.purpose == .transfer, !chance(4) else {
            return attempt.fail(pick([.connectionRefused, .dnsError, .connectionTimeout]), phase: pick([.resolving, .connecting]))
        }
        let status = isKept ? pick([200, 200, 200, 304]) : pick([200, 200, 201, 304, 404, 429, 500, 503, 503])
        let body = status == 304 ? "" : #"{"a":[1,{"\#(pick(["b", "9223372036854775807"]))":2}]}"#
        var lines = [pick(fields), pick(fields), pick(fields)]
        if status != 304 { lines.append("Content-Length: \(body.utf8.count)") }
        attempt.respondOnceSent(status, lines, body: body)
    }
}
