import LayoverHTTP
import LayoverText
import NIOCore
import NIOHPACK

/// The head of a request by HTTP/2, checked, and written as the same head in HTTP/1.1 (RFC 9113 section 8.3).
struct HTTP2RequestHead {
    /// How its body is framed in HTTP/1.1.
    enum Body: Equatable {
        case none
        /// So many bytes, which the client has promised.
        case length(Int)
        case chunked
    }

    /// What makes the stream one that is answered by RST_STREAM (section 8.1.1), or by a response where HTTP/2 allows the request and
    /// Layover does not.
    struct Malformed: Error, Equatable {
        let reason: String
        /// The refusal that answers the request. Nil: the stream is reset.
        var answer: FramingError?
        /// Whether the method of the request is HEAD.
        var isHead = false

        init(_ reason: String) { self.reason = reason }

        init(_ answer: FramingError) { (reason, self.answer) = (answer.reason.description, answer) }
    }

    /// With the empty line.
    let bytes: ByteBuffer
    let body: Body
    let isHead: Bool
    /// Whether the client may wait for a 100 before it sends its body (RFC 9110 section 10.1.1).
    let expectsContinue: Bool

    /// - Parameters:
    ///   - endsStream: Whether no body follows.
    ///   - keepsExpect: False: the body is there, and nobody waits for a 100.
    ///   - byteCountMax: The size of the head in HTTP/1.1 counts. A client can name a long field again and again by one byte each (RFC 7541
    ///     section 6.1).
    init(_ fields: HPACKHeaders, endsStream: Bool, keepsExpect: Bool = true, byteCountMax: Int = .max) throws(Malformed) {
        if let answer = Self.refusal(of: fields, byteCountMax: byteCountMax) {
            var malformed = Malformed(answer)
            malformed.isHead = fields.first(name: ":method") == "HEAD"
            throw malformed
        }
        var pseudo: [String: String] = [:]
        var lines: [(name: String, value: String)] = []
        var cookies: [String] = []
        var hosts: [String] = []
        var lengths: [String] = []
        var expectsContinue = false
        for (name, value, _) in fields {
            guard !name.hasPrefix(":") else {
                guard lines.isEmpty, cookies.isEmpty, hosts.isEmpty, lengths.isEmpty else {
                    throw Malformed("a pseudo-header field stands behind others")
                }
                guard [":method", ":scheme", ":path", ":authority"].contains(name) else { throw Malformed("\(name) is unknown") }
                guard pseudo.updateValue(value, forKey: name) == nil else { throw Malformed("\(name) is there twice") }
                continue
            }
            try HTTP2Fields.check(name, value)
            switch name {
            case "cookie": cookies.append(value)
            case "expect" where value.lowercased() == "100-continue":
                expectsContinue = true
                if keepsExpect { lines.append((name, value)) }
            case "host": hosts.append(value)
            case "content-length": lengths.append(value)
            case "te":
                guard value == "trailers" else { throw Malformed("te may be trailers only") }
                // TE is for the next recipient; HTTP/1.1 says so in Connection (RFC 9110 section 10.1.4).
                lines += [("te", "trailers"), ("connection", "te")]
            default: lines.append((name, value))
            }
        }
        let method = try Self.word(pseudo[":method"], ":method")
        let authority = try Self.authority(pseudo[":authority"], hosts)
        let target = try Self.target(method, pseudo, authority)
        body = try Self.body(lengths, endsStream: endsStream)
        isHead = method == "HEAD"
        self.expectsContinue = expectsContinue
        var bytes = ByteBuffer()
        bytes.writeString("\(method) \(target) HTTP/1.1\r\nhost: \(authority)\r\n")
        for (name, value) in lines { bytes.writeString("\(name): \(value)\r\n") }
        // The cookies may be apart for compression, and belong together (section 8.2.3).
        if !cookies.isEmpty { bytes.writeString("cookie: \(cookies.joined(separator: "; "))\r\n") }
        switch body {
        case .none where endsStream && ["POST", "PUT", "PATCH"].contains(method): bytes.writeString("content-length: 0\r\n")
        case .none: if let length = lengths.first { bytes.writeString("content-length: \(length)\r\n") }
        case .length(let count): bytes.writeString("content-length: \(count)\r\n")
        case .chunked: bytes.writeString("transfer-encoding: chunked\r\n")
        }
        bytes.writeString("\r\n")
        self.bytes = bytes
    }

    /// Nothing of such a head is written.
    private static func refusal(of fields: HPACKHeaders, byteCountMax: Int) -> FramingError? {
        var byteCount = 0
        for (name, value, _) in fields {
            byteCount += name.utf8.count + value.utf8.count + 4
            if byteCount > byteCountMax { return FramingError(status: 431, reason: "The head of the message is too large.") }
            if !HTTP2Fields.isIntact(value) {
                return FramingError(
                    status: 400,
                    reason: """
                        A field has bytes that are not UTF-8 (or U+FFFD). Layover cannot pass them on from HTTP/2 unchanged; \
                        by HTTP/1.1 it can.
                        """)
            }
        }
        return nil
    }

    private static func word(_ value: String?, _ name: String) throws(Malformed) -> String {
        guard let value, !value.isEmpty else { throw Malformed("\(name) is missing") }
        guard value.allBytes({ $0 > 0x20 && $0 != 0x7F }) else { throw Malformed("\(name) has a space or a control character") }
        return value
    }

    /// `:authority` counts, and `host` has to say the same (section 8.3.1).
    private static func authority(_ authority: String?, _ hosts: [String]) throws(Malformed) -> String {
        guard hosts.count < 2 else { throw Malformed("host is there twice") }
        guard let authority else { return try word(hosts.first, ":authority") }
        if let host = hosts.first, host.lowercased() != authority.lowercased() { throw Malformed("host is not :authority") }
        return try word(authority, ":authority")
    }

    private static func target(_ method: String, _ pseudo: [String: String], _ authority: String) throws(Malformed) -> String {
        if method == "CONNECT" {
            guard pseudo[":scheme"] == nil, pseudo[":path"] == nil else { throw Malformed("CONNECT has a path") }
            return authority
        }
        guard pseudo[":scheme"] == "https" else { throw Malformed(":scheme is not https") }
        let path = try word(pseudo[":path"], ":path")
        guard path.hasPrefix("/") || (path == "*" && method == "OPTIONS") else { throw Malformed(":path does not begin with a slash") }
        return path
    }

    private static func body(_ lengths: [String], endsStream: Bool) throws(Malformed) -> Body {
        guard let text = lengths.first else { return endsStream ? .none : .chunked }
        guard lengths.allSatisfy({ $0 == text }), !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(text) else {
            throw Malformed("content-length is no number")
        }
        guard endsStream else { return .length(length) }
        guard length == 0 else { throw Malformed("content-length announces a body that does not come") }
        return .none
    }
}

/// Event of a stream: its request is answered by a refusal, and what follows of it is thrown away.
struct HTTP2Refusal {
    let error: FramingError
    /// Whether the request is one by HEAD.
    let isHead: Bool
}

/// Fields of HTTP/2 (RFC 9113 section 8.2).
enum HTTP2Fields {
    /// Only for a connection of HTTP/1.1.
    static let ofConnections: Set<String> = ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"]

    /// - Throws: Where the field would not be one line of HTTP/1.1, or is not allowed.
    static func check(_ name: String, _ value: String) throws(HTTP2RequestHead.Malformed) {
        let isName = !name.isEmpty && name.allBytes(isTokenInLowerCase)
        guard isName else { throw HTTP2RequestHead.Malformed("a field name has other characters than a token in lower case") }
        guard isIntact(value) else { throw HTTP2RequestHead.Malformed("\(name) has bytes that are not UTF-8") }
        guard !ofConnections.contains(name) else { throw HTTP2RequestHead.Malformed("\(name) belongs to HTTP/1.1") }
        guard value.allBytes({ byte in byte != 0 && byte != 0x0A && byte != 0x0D }) else {
            throw HTTP2RequestHead.Malformed("\(name) has a line break or NUL")
        }
        let spaces: [UInt8?] = [0x20, 0x09]
        let isTrimmed = !spaces.contains(value.utf8.first) && !spaces.contains(value.utf8.last)
        guard isTrimmed else { throw HTTP2RequestHead.Malformed("\(name) has space around its value") }
    }

    /// False where bytes of a value may have been replaced: NIOHPACK puts U+FFFD in the place of bytes that are not UTF-8.
    static func isIntact(_ value: String) -> Bool {
        value.allBytes { $0 < 0x80 } || !value.unicodeScalars.contains("\u{FFFD}")
    }

    /// The first field of a response whose value NIOHPACK would alter, because it is not UTF-8. Nil: no field is such a one.
    static func unsendable(in head: ResponseHead) -> String? {
        guard !isASCII(head) else { return nil }
        let block = head.fields()
        let range = block.ranges.first { !isUnchanged(block.string($0.value), from: block.slice($0.value).readableBytesView) }
        return range.map { block.string($0.name).lowercased() }
    }

    /// Without a jump in its loop, so that it takes many bytes at a time.
    static func isASCII(_ head: ResponseHead) -> Bool {
        head.bytes.withUnsafeReadableBytes { bytes in
            var all: UInt8 = 0
            for byte in bytes { all |= byte }
            return all < 0x80
        }
    }

    /// Whether a string has the bytes that it was made of: those that are not UTF-8 are replaced in it.
    static func isUnchanged(_ value: String, from bytes: ByteBufferView) -> Bool { isIntact(value) || value.utf8.elementsEqual(bytes) }

    private static func isTokenInLowerCase(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
