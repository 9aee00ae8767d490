import LayoverText

/// The schemes we forward.
package enum Scheme: UInt8, Hashable, Sendable {
    case http, https

    package var name: String { self == .http ? "http" : "https" }
}

/// The form of a request target (RFC 9112 section 3.2).
///
/// The host of `absolute` and `authority` is `RequestHead.targetAuthority`; it is made on demand.
package enum RequestTarget: Sendable, Equatable {
    /// A path with an optional query, for a server. `targetRange` is all of it.
    case origin
    /// `*`, only with OPTIONS.
    case asterisk
    /// `http://…` or `https://…`. The range is what follows the authority: a path, a query, both,
    /// or nothing (which means `/`, and `*` for OPTIONS).
    case absolute(Scheme, pathRange: Range<Int>)
    /// `host:port`, only with CONNECT.
    case authority
}

/// `RequestTarget` as a head keeps it.
enum TargetForm: Sendable {
    case origin
    case asterisk
    case absolute(Scheme, path: CompactRange)
    case authority
}

/// Reads a request target.
///
/// A wrong target is refused, never repaired: a target that can be read in two ways could circumvent a check on the host.
/// Well-formed userinfo of an absolute target is not wrong: it is skipped.
struct TargetScan: Sendable {
    let form: TargetForm
    /// The authority's bytes with port, of the absolute and the authority form.
    let authorityBytes: CompactRange?
    let authority: AuthorityRange?

    init(
        _ range: Range<Int>, of method: Method, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        // Percent-encoding is passed as it is. The rest of RFC 3986's grammar is left to the
        // origin: browsers send `|`, `{` and others unencoded.
        guard !range.isEmpty, ByteScan.isVisible(in: bytes, range) else { throw .malformedTarget }
        if ByteScan.first(ASCII.hash, in: bytes, range) != nil { throw .fragmentInTarget }
        if method == .connect {
            try self.init(authorityForm: range, in: bytes)
        } else if bytes[range.lowerBound] == ASCII.slash {
            self.init(form: .origin, authorityBytes: nil, authority: nil)
        } else if range.count == 1, bytes[range.lowerBound] == ASCII.asterisk {
            guard method == .options else { throw .asteriskForOthers }
            self.init(form: .asterisk, authorityBytes: nil, authority: nil)
        } else {
            try self.init(absoluteForm: range, in: bytes)
        }
    }

    private init(form: TargetForm, authorityBytes: Range<Int>?, authority: AuthorityRange?) {
        self.form = form
        self.authorityBytes = authorityBytes.map(CompactRange.init)
        self.authority = authority
    }

    /// RFC 9112 section 3.2.3: host and port, both required.
    private init(
        authorityForm range: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        if ByteScan.first(ASCII.at, in: bytes, range) != nil { throw .userinfoInTarget }
        guard let authority = AuthorityRange(range, in: bytes) else { throw .malformedAuthority }
        guard authority.port != 0 else { throw .connectWithoutAuthority }
        self.init(form: .authority, authorityBytes: range, authority: authority)
    }

    /// RFC 9112 section 3.2.2, for http and https (RFC 9110 section 4.2).
    private init(
        absoluteForm range: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        guard let colon = ByteScan.first(ASCII.colon, in: bytes, range) else {
            throw .malformedTarget
        }
        let schemeBytes = range.lowerBound..<colon
        let scheme: Scheme
        if ByteText.equalsIgnoringCase("http", in: bytes, schemeBytes) {
            scheme = .http
        } else if ByteText.equalsIgnoringCase("https", in: bytes, schemeBytes) {
            scheme = .https
        } else {
            throw .unknownScheme
        }
        let start = colon + 3
        guard start <= range.upperBound, bytes[colon + 1] == ASCII.slash,
            bytes[colon + 2] == ASCII.slash
        else { throw .malformedTarget }
        var end = start
        while end < range.upperBound, bytes[end] != ASCII.slash, bytes[end] != ASCII.question {
            end &+= 1
        }
        var hostStart = start
        if let at = ByteScan.first(ASCII.at, in: bytes, start..<end) {
            guard Userinfo.isValid(start..<at, in: bytes) else { throw .malformedUserinfo }
            hostStart = at + 1
        }
        guard let authority = AuthorityRange(hostStart..<end, in: bytes) else {
            throw .malformedAuthority
        }
        self.init(
            form: .absolute(scheme, path: CompactRange(end..<range.upperBound)),
            authorityBytes: hostStart..<end, authority: authority)
    }
}

/// The part of an authority before its `@` (RFC 3986 section 3.2.1).
///
/// RFC 9110 section 4.2.4 forbids clients to send it in a request, but wget, apt and LWP do when they use a proxy.
private enum Userinfo {
    /// Whether the range, without the `@`, is `*( unreserved / pct-encoded / sub-delims / ":" )`. A second `@` and a backslash are
    /// not allowed: readers disagree about the host behind them.
    static func isValid(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            if bytes[offset] == UInt8(ascii: "%") {
                guard offset + 2 < range.upperBound, Hexadecimal.value(of: bytes[offset + 1]) != nil,
                    Hexadecimal.value(of: bytes[offset + 2]) != nil
                else { return false }
                offset += 3
            } else {
                guard isAllowed(bytes[offset]) else { return false }
                offset += 1
            }
        }
        return true
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~!$&'()*+,;=:".utf8.contains(byte)
        }
    }
}
