package import NIOCore

/// The head of a request: its bytes as they came, and what they mean.
///
/// All ranges are offsets from the first byte of the head. Nothing here is a String; the few that
/// somebody needs are made on demand.
///
/// Immutable, and a class only because it is handed on often: copying so large a value costs more
/// than the one allocation.
package final class RequestHead: Sendable {
    /// The fields, with the bytes of the whole head.
    package let fields: FieldBlock

    let line: RequestLine

    package var method: Method { line.method }
    /// The method as it came.
    package var methodRange: Range<Int> { line.methodRange.range }

    package var target: RequestTarget {
        switch line.target.form {
        case .origin: .origin
        case .asterisk: .asterisk
        case .absolute(let scheme, let path): .absolute(scheme, pathRange: path.range)
        case .authority: .authority
        }
    }
    /// The target as it came, userinfo included: see `targetString`.
    package var targetRange: Range<Int> { line.targetRange.range }
    /// `host[:port]` of the target as it came, without userinfo, for the absolute and the authority form.
    /// Equal bytes mean an equal `targetAuthority`, so a caller can reuse the `targetAuthority` of the previous request.
    package var authorityRange: Range<Int>? { line.target.authorityBytes?.range }

    /// A request by HTTP/2 has been written as one of HTTP/1.1.
    package let version: ProtocolVersion

    package let framing: BodyFraming

    /// Whether another request may follow on the connection.
    ///
    /// Always false for HTTP/1.0: a proxy must not keep a connection with such a client, whatever
    /// it says (RFC 9112 section 9.3 and appendix C.2.2).
    package let keepAlive: Bool

    /// Whether the client waits for a 100 before it sends its body. Only HTTP/1.1 and only with a
    /// body (RFC 9110 section 10.1.1).
    package let expectsContinue: Bool

    /// Whether `Expect: 100-continue` came with a request without a body. There is nothing to wait for, so the field is passed on.
    package let passesExpectOn: Bool

    /// Whether the head has an expectation other than `100-continue`: the response is 417.
    package let hasUnknownExpectation: Bool

    /// Only for OPTIONS and TRACE. At 0 the request must be answered, not forwarded.
    package let maxForwards: Int?

    /// The value of the Host field.
    package var hostRange: Range<Int>? { hostBytes?.range }
    private let hostBytes: CompactRange?
    let host: AuthorityRange?

    /// Whether the client asks to leave HTTP/1.1: an Upgrade field, named by Connection.
    package let upgradeRequested: Bool

    /// Whether `Connection` nominates fields that would otherwise be forwarded.
    let nominatesFields: Bool

    /// Exactly the head, from the request line to the empty line.
    package var bytes: ByteBuffer { fields.bytes }

    init(
        line: RequestLine, fields: FieldBlock, isHTTP2: Bool, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        var facts = RequestHeadFacts()
        for field in fields.ranges { try facts.read(field, of: line.method, in: bytes) }
        self.fields = fields
        self.line = line
        framing = try facts.bodyFraming(of: line.method, minorVersion: line.minorVersion)
        let isCurrent = line.minorVersion == 1
        version = isHTTP2 ? .http2 : isCurrent ? .http11 : .http10
        keepAlive = isCurrent && !facts.closes
        expectsContinue = isCurrent && facts.saysContinue && framing.hasBody
        passesExpectOn = isCurrent && facts.saysContinue && !facts.hasUnknownExpectation && !framing.hasBody
        hasUnknownExpectation = isCurrent && facts.hasUnknownExpectation
        maxForwards = facts.maxForwards
        hostBytes = facts.hostBytes
        host = facts.host
        upgradeRequested = isCurrent && facts.hasUpgrade && facts.connection.upgrades
        nominatesFields = facts.connection.nominatesOthers
    }
}

/// Without its target and its fields: a buffer prints as its bytes.
extension RequestHead: CustomStringConvertible {
    package var description: String { "\(method), \(fields)" }
}

// Texts and other values that are made on demand.

extension RequestHead {
    /// The authority of the target. Nil for the origin form and for `*`.
    package var targetAuthority: Authority? {
        guard let authority = line.target.authority else { return nil }
        return bytes.withUnsafeReadableBytes { authority.authority(in: $0) }
    }

    /// The authority of the Host field. When the target has one too, that one decides (RFC 9112
    /// section 3.2.2).
    package var hostAuthority: Authority? {
        guard let host else { return nil }
        return bytes.withUnsafeReadableBytes { host.authority(in: $0) }
    }

    /// The method as it came.
    package var methodString: String { fields.string(methodRange) }

    /// The target as it came, without userinfo. ASCII without white space and control characters.
    package var targetString: String {
        guard let userinfo = userinfoRange else { return fields.string(targetRange) }
        return fields.string(targetRange.lowerBound..<userinfo.lowerBound) + fields.string(userinfo.upperBound..<targetRange.upperBound)
    }

    /// Name and password in an absolute target, with their `@`. They are never sent, shown or stored.
    private var userinfoRange: Range<Int>? {
        guard case .absolute(let scheme, _) = line.target.form, let authority = authorityRange else { return nil }
        let start = targetRange.lowerBound + scheme.name.utf8.count + "://".utf8.count
        return start < authority.lowerBound ? start..<authority.lowerBound : nil
    }

    /// Whether the bytes of the range equal `other` exactly.
    package func equals(_ range: Range<Int>, _ other: [UInt8]) -> Bool {
        guard range.count == other.count else { return false }
        return bytes.withUnsafeReadableBytes { $0[range].elementsEqual(other) }
    }

    /// Appends the target for the upstream in origin form: the path and query as they came, with
    /// the `/` that an absolute target may lack. `*` for OPTIONS without a path (RFC 9112 section
    /// 3.2.4). The authority form has none; nothing is appended.
    package func writeOriginForm(into out: inout ByteBuffer) {
        switch target {
        case .asterisk:
            out.writeInteger(ASCII.asterisk)
        case .origin:
            bytes.withUnsafeReadableBytes { bytes in
                _ = out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[targetRange]))
            }
        case .absolute(_, let pathRange):
            if pathRange.isEmpty {
                out.writeInteger(method == .options ? ASCII.asterisk : ASCII.slash)
                return
            }
            bytes.withUnsafeReadableBytes { bytes in
                if bytes[pathRange.lowerBound] == ASCII.question { out.writeInteger(ASCII.slash) }
                out.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[pathRange]))
            }
        case .authority:
            break
        }
    }
}

extension RequestHead {
    /// The urgency of the `Priority` field, 0 (first) to 7 (last) (RFC 9218 section 4.1).
    /// Nil: the field has no urgency, or an urgency that cannot be read and counts as missing.
    package var urgency: Int? {
        var urgency: Int?
        for range in fields.values(.priority) {
            for member in fields.string(range).split(separator: ",") {
                // Parameters are for others to read, and of two members with one name the last one counts
                // (RFC 8941 section 3.2).
                let text = (member.split(separator: ";").first ?? "").filter { $0 != " " && $0 != "\t" }
                guard text == "u" || text.hasPrefix("u=") else { continue }
                urgency = text.utf8.count == 3 ? text.last?.wholeNumberValue.flatMap { $0 <= 7 ? $0 : nil } : nil
            }
        }
        return urgency
    }
}
