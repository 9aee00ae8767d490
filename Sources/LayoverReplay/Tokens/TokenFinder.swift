import NIOCore

/// Finds the tokens of one text.
struct TokenFinder {
    let limits: TokenLimits
    /// In the order in which they stand.
    private(set) var found: [FoundToken] = []

    init(limits: TokenLimits) {
        self.limits = limits
    }

    /// The path and the query of a request target.
    ///
    /// A tilde may be written `%7E`, as some that build queries do (it means the same, RFC 3986 section 2.3);
    /// then the token is taken to be percent-encoded as a whole, and decoded before it is read.
    static func target(_ target: ByteBuffer, limits: TokenLimits) throws(TokenError) -> [FoundToken] {
        var finder = TokenFinder(limits: limits)
        try target.withReadableBytes { (bytes) throws(TokenError) in
            let pathEnd = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
            try finder.find(in: 0..<pathEnd, of: bytes, place: .path, plain: .plain, escaped: UInt8(ascii: "%"))
            try finder.find(in: pathEnd..<bytes.count, of: bytes, place: .query, plain: .plain, escaped: UInt8(ascii: "%"))
            try finder.checkLocations(of: bytes)
        }
        return finder.found
    }

    /// The value of one field.
    static func field(_ name: String, _ value: ByteBuffer, limits: TokenLimits) throws(TokenError) -> [FoundToken] {
        var finder = TokenFinder(limits: limits)
        try value.withReadableBytes { (bytes) throws(TokenError) in
            try finder.find(in: 0..<bytes.count, of: bytes, place: .field(name), plain: .plain, escaped: nil)
        }
        return finder.found
    }

    /// A body. In a form, tokens are decoded before they are read, however their tildes are written, so a percent
    /// sign of a token stands as `%25` there. In JSON, tokens stand in strings only, escapes allowed.
    static func body(_ body: ByteBuffer, type: BodyType, limits: TokenLimits) throws(TokenError) -> [FoundToken] {
        var finder = TokenFinder(limits: limits)
        try body.withReadableBytes { (bytes) throws(TokenError) in
            switch type {
            case .form:
                try finder.find(
                    in: 0..<bytes.count, of: bytes, place: .form, plain: .percentEncoded, escaped: UInt8(ascii: "%"))
            case .json:
                try finder.findInStrings(of: bytes)
            case .other:
                break
            }
        }
        return finder.found
    }

    /// - Parameters:
    ///   - plain: How a token goes on whose first tilde stands as it is.
    ///   - escaped: The first byte of a tilde that is written otherwise; nil: the tilde has no other spelling.
    private mutating func find(
        in range: Range<Int>, of bytes: UnsafeRawBufferPointer, place: TokenPlace, plain: TokenSpelling, escaped: UInt8?
    ) throws(TokenError) {
        let reader = TokenReader(bytes: bytes, place: place, limits: limits)
        let decoding: TokenSpelling = place == .json ? .json : .percentEncoded
        var offset = range.lowerBound
        while offset < range.upperBound {
            let byte = bytes[offset]
            guard byte == UInt8(ascii: "~") || byte == escaped else {
                offset += 1
                continue
            }
            let spelling = byte == UInt8(ascii: "~") ? plain : decoding
            guard let (tilde, next) = spelling.character(at: offset, in: bytes, end: range.upperBound) else { break }
            let start = offset
            // Behind an escape nothing may be looked at twice: the second half of `\\` begins no escape.
            offset = next
            guard tilde == UInt8(ascii: "~"),
                let (token, end) = try reader.token(from: next, end: range.upperBound, spelling: spelling)
            else { continue }
            guard found.count < limits.tokenCountMax else {
                throw TokenError(.limit, "There are more than \(limits.tokenCountMax) tokens in \(place.name).")
            }
            found.append(FoundToken(token: token, place: place, range: start..<end))
            offset = end
        }
    }

    private mutating func findInStrings(of bytes: UnsafeRawBufferPointer) throws(TokenError) {
        var offset = 0
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "\"") else {
                guard !Self.isBeginning(bytes[offset...]) else {
                    throw TokenError(
                        .malformed, "A token in a JSON body must be inside a string.")
                }
                offset += 1
                continue
            }
            let start = offset + 1
            offset = start
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
                offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
            }
            let end = min(offset, bytes.count)
            try find(in: start..<end, of: bytes, place: .json, plain: .json, escaped: UInt8(ascii: "\\"))
            offset = end + 1
        }
    }

    /// Whether the bytes begin a token that stands where JSON needs a value: no JSON to anybody, but meant as a token.
    private static func isBeginning(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.first == UInt8(ascii: "~") && (bytes.starts(with: "~ticket.".utf8) || bytes.starts(with: "~uuid~".utf8))
    }

    /// In a path, a location stands for the path and query of the resource, so it must begin a segment.
    private func checkLocations(of bytes: UnsafeRawBufferPointer) throws(TokenError) {
        let locations = found.filter { $0.isLocationInPath }
        guard locations.allSatisfy({ $0.range.lowerBound > 0 && bytes[$0.range.lowerBound - 1] == UInt8(ascii: "/") }) else {
            throw TokenError(.malformed, "A location token in the path must follow a slash.")
        }
        guard locations.count < 2 else {
            throw TokenError(.malformed, "The path has more than one location token.")
        }
    }
}

/// A token in some bytes.
struct FoundToken: Sendable, Hashable {
    var token: Token
    var place: TokenPlace
    /// The bytes from the token's first tilde to its last, in offsets from the first readable byte.
    var range: Range<Int>

    /// Whether the token stands for a whole path.
    var isLocationInPath: Bool {
        guard case .ticket(_, .location) = token else { return false }
        return place == .path
    }
}

/// Where a token stands. Decides how its text is read and how its value is written.
enum TokenPlace: Sendable, Hashable {
    case path
    case query
    /// The value of the field of that name.
    case field(String)
    /// A string of a JSON body, be it a value or the key of an object.
    case json
    /// A name or value of a form body.
    case form

    /// For sentences.
    var name: String {
        switch self {
        case .path, .query: "the request target"
        case .field(let name): "the field \(name)"
        case .json: "the JSON body"
        case .form: "the form body"
        }
    }
}

extension ByteBuffer {
    /// Lends the readable bytes to `body` and keeps its typed error, which `rethrows` would erase.
    func withReadableBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(TokenError) -> Value
    ) throws(TokenError) -> Value {
        let result: Result<Value, TokenError> = withUnsafeReadableBytes { bytes in
            do throws(TokenError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
