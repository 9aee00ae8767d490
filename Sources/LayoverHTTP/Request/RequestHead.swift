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
        var facts = RequestFacts()
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
