/// Reads the fields that frame a message, for both directions (RFC 9112 section 6).
struct FramingFields: Sendable {
    private(set) var length: Int?
    private(set) var isChunked = false
    /// Whether a response names the coding `identity`, which means that there is no coding.
    private(set) var isIdentity = false

    /// Reads the length of a request. A list of equal lengths is refused, although RFC 9110 section 8.6 would allow it: a server
    /// behind Layover may read such a list in another way.
    mutating func readLength(
        _ field: FieldRange, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        guard length == nil else { throw .severalLengths }
        guard !Self.hasTabAround(field, in: bytes),
            let number = DecimalNumber.value(of: field.value, in: bytes)
        else { throw .malformedLength }
        length = number
    }

    /// The length of a response may be repeated, as another field or in a list, if all are equal (RFC 9110 section 8.6, RFC 9112
    /// section 6.3).
    ///
    /// - Returns: Whether the field has one number, and no list.
    mutating func readLengthOfResponse(_ field: FieldRange, in bytes: UnsafeRawBufferPointer) throws(FramingError) -> Bool {
        guard !Self.hasTabAround(field, in: bytes) else { throw .malformedLength }
        var start = field.value.lowerBound
        var count = 0
        repeat {
            let end = ByteScan.first(ASCII.comma, in: bytes, start..<field.value.upperBound) ?? field.value.upperBound
            guard let number = DecimalNumber.value(of: ByteScan.trimmed(start..<end, in: bytes), in: bytes) else { throw .malformedLength }
            guard length ?? number == number else { throw .severalLengths }
            length = number
            count += 1
            start = end + 1
        } while start <= field.value.upperBound
        return count == 1
    }

    /// Reads the transfer coding of a response by the rules for a request, and also accepts `identity` once.
    ///
    /// In RFC 2616, `identity` means that there is no coding.
    mutating func readEncodingOfResponse(_ field: FieldRange, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
        guard !isIdentity else { throw .severalEncodings }
        if !isChunked, ByteText.equalsIgnoringCase("identity", in: bytes, field.value), !Self.hasTabAround(field, in: bytes) {
            isIdentity = true
            return
        }
        try readEncoding(field, in: bytes)
    }

    /// Reads the transfer coding. Only a single `chunked` is accepted, in upper or lower case (RFC 9112 section 7).
    ///
    /// Another single coding is refused as not supported. Any other value is refused because two parsers may read it in two ways.
    mutating func readEncoding(
        _ field: FieldRange, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) {
        let value = field.value
        guard !isChunked else { throw .severalEncodings }
        guard !Self.hasTabAround(field, in: bytes) else { throw .malformedEncoding }
        if ByteText.equalsIgnoringCase("chunked", in: bytes, value) {
            isChunked = true
            return
        }
        let isToken = !value.isEmpty && value.allSatisfy { ByteClass.isToken(bytes[$0]) }
        throw isToken ? .unknownEncoding : .malformedEncoding
    }

    /// Whether a tab stands beside the value. It is legal white space, but some parsers take it for
    /// a part of the value, and so find another end of the message than we do.
    private static func hasTabAround(
        _ field: FieldRange, in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        let value = field.value
        let isBefore =
            ByteScan.first(
                ASCII.tab, in: bytes, field.name.upperBound..<value.lowerBound) != nil
        var offset = value.upperBound
        while offset < bytes.count, ByteClass.isWhiteSpace(bytes[offset]) {
            if bytes[offset] == ASCII.tab { return true }
            offset += 1
        }
        return isBefore
    }

    /// Checks what only the whole head can tell.
    func check(minorVersion: Int) throws(FramingError) {
        guard isChunked else { return }
        // RFC 9112 section 6.1: a message with both Content-Length and Transfer-Encoding ought to be handled as an error.
        // So ought a Transfer-Encoding from a sender whose HTTP version does not have it.
        if length != nil { throw .lengthWithEncoding }
        if minorVersion == 0 { throw .encodingInOldVersion }
    }
}

/// How the end of a request's body is found. Decided by the fields alone, never by the method.
package enum BodyFraming: Equatable, Sendable {
    /// There is no body.
    case none
    /// So many bytes follow. May be 0, if the client said so.
    case length(Int)
    /// Chunks follow, and perhaps trailers.
    case chunked

    /// Whether any byte of a body can follow.
    package var hasBody: Bool {
        switch self {
        case .none: false
        case .length(let byteCount): byteCount > 0
        case .chunked: true
        }
    }
}
