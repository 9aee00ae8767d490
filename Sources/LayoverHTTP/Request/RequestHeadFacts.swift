/// What the fields of a request say about its framing and its connection: gathered field by field,
/// then judged as a whole.
struct RequestHeadFacts: Sendable {
    private(set) var framing = FramingFields()
    private(set) var connection = ConnectionOptions()
    private(set) var hostBytes: CompactRange?
    private(set) var host: AuthorityRange?
    private(set) var saysContinue = false
    private(set) var hasUnknownExpectation = false
    private(set) var hasUpgrade = false
    private(set) var maxForwards: Int?
    /// `Proxy-Connection` was never standardized; all we take from it is the wish to close.
    private var proxyConnection = ConnectionOptions()

    var closes: Bool { connection.closes || proxyConnection.closes }

    mutating func read(
        _ field: FieldRange, of method: Method, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        switch field.known {
        case .host: try readHost(field.value, in: bytes)
        case .contentLength: try framing.readLength(field, in: bytes)
        case .transferEncoding: try framing.readEncoding(field, in: bytes)
        case .connection: try readConnection(field.value, in: bytes)
        case .proxyConnection: proxyConnection.read(field.value, in: bytes)
        case .expect: readExpectation(field.value, in: bytes)
        case .upgrade: hasUpgrade = true
        case .maxForwards where method == .options || method == .trace:
            try readMaxForwards(field.value, in: bytes)
        default: break
        }
    }

    /// RFC 9110 section 7.6.1 forbids `Connection` to nominate a field that is meant for all recipients.
    /// Removing such a field would change where the request goes, where it ends or who sends it.
    /// Keeping it would break the rule of that section that nominated fields are removed.
    private mutating func readConnection(
        _ value: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        connection.read(value, in: bytes)
        guard !connection.nominatesEssentials else { throw .essentialFieldNominated }
    }

    /// RFC 9112 section 3.2: a second Host, or one that is no authority, is a 400.
    private mutating func readHost(
        _ value: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        guard hostBytes == nil else { throw .severalHosts }
        guard let authority = AuthorityRange(value, in: bytes) else { throw .malformedHost }
        hostBytes = CompactRange(value)
        host = authority
    }

    private mutating func readExpectation(_ value: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        if ByteText.equalsIgnoringCase("100-continue", in: bytes, value) {
            saysContinue = true
        } else {
            hasUnknownExpectation = true
        }
    }

    /// Reads Max-Forwards, which has a meaning for OPTIONS and TRACE only (RFC 9110 section 7.6.2).
    private mutating func readMaxForwards(
        _ value: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        guard maxForwards == nil, let number = DecimalNumber.value(of: value, in: bytes) else {
            throw .malformedMaxForwards
        }
        maxForwards = number
    }

    func bodyFraming(
        of method: Method, minorVersion: UInt8
    ) throws(FramingError) -> BodyFraming {
        try framing.check(minorVersion: Int(minorVersion))
        if minorVersion == 1, hostBytes == nil { throw .missingHost }
        if method == .connect {
            // RFC 9110 section 9.3.6: a CONNECT has no content. The bytes after its head belong to the tunnel.
            // Another server could read the bytes that a length announces as a body.
            if framing.isChunked || framing.length ?? 0 > 0 { throw .bodyOnConnect }
            return .none
        }
        if framing.isChunked { return .chunked }
        return framing.length.map { .length($0) } ?? .none
    }
}
