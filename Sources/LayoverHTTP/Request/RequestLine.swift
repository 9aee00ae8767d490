/// A request line (RFC 9112 section 3): three words with exactly one space between them.
struct RequestLine: Sendable {
    let method: Method
    let methodRange: CompactRange
    let targetRange: CompactRange
    let target: TargetScan
    /// 0 or 1.
    let minorVersion: UInt8

    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
        var methodEnd = line.lowerBound
        while methodEnd < line.upperBound, ByteClass.isToken(bytes[methodEnd]) { methodEnd &+= 1 }
        guard methodEnd < line.upperBound else { throw .malformedRequestLine }
        guard methodEnd > line.lowerBound, bytes[methodEnd] == ASCII.space else {
            throw .malformedMethod
        }
        let targetStart = methodEnd &+ 1
        guard
            let targetEnd = ByteScan.first(
                ASCII.space, in: bytes, targetStart..<line.upperBound)
        else { throw .malformedRequestLine }
        let methodBytes = line.lowerBound..<methodEnd
        let targetBytes = targetStart..<targetEnd
        methodRange = CompactRange(methodBytes)
        targetRange = CompactRange(targetBytes)
        minorVersion = try Self.minorVersion((targetEnd &+ 1)..<line.upperBound, in: bytes)
        method = .recognise(bytes, methodBytes)
        target = try TargetScan(targetBytes, of: method, in: bytes)
    }

    /// `HTTP/1.0` or `HTTP/1.1`, in capitals (RFC 9112 section 2.3). Other versions are told apart
    /// from nonsense; HTTP/0.x never had a version to write there.
    private static func minorVersion(
        _ range: Range<Int>, in bytes: UnsafeRawBufferPointer
    ) throws(FramingError) -> UInt8 {
        if ByteText.equals("HTTP/1.1", in: bytes, range) { return 1 }
        if ByteText.equals("HTTP/1.0", in: bytes, range) { return 0 }
        guard range.count == 8,
            ByteText.equals("HTTP/", in: bytes, range.lowerBound..<(range.lowerBound + 5)),
            ByteClass.isDigit(bytes[range.lowerBound + 5]),
            bytes[range.lowerBound + 5] != ASCII.zero,
            bytes[range.lowerBound + 6] == ASCII.dot,
            ByteClass.isDigit(bytes[range.lowerBound + 7])
        else { throw .malformedVersion }
        throw .unsupportedVersion
    }
}

/// A request method that the proxy's rules know, or `other`.
///
/// Methods are case-sensitive (RFC 9110 section 9.1): `get` is `other`, and is passed as it came.
package enum Method: UInt8, Sendable, CaseIterable {
    case get, head, post, put, delete, connect, options, trace, patch, other

    static func recognise(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Self {
        switch range.count {
        case 3:
            if ByteText.equals("GET", in: bytes, range) { return .get }
            if ByteText.equals("PUT", in: bytes, range) { return .put }
        case 4:
            if ByteText.equals("POST", in: bytes, range) { return .post }
            if ByteText.equals("HEAD", in: bytes, range) { return .head }
        case 5:
            if ByteText.equals("PATCH", in: bytes, range) { return .patch }
            if ByteText.equals("TRACE", in: bytes, range) { return .trace }
        case 6:
            if ByteText.equals("DELETE", in: bytes, range) { return .delete }
        case 7:
            if ByteText.equals("CONNECT", in: bytes, range) { return .connect }
            if ByteText.equals("OPTIONS", in: bytes, range) { return .options }
        default:
            break
        }
        return .other
    }
}

/// The version of HTTP in which a request was received (RFC 9110 section 2.5).
package enum ProtocolVersion: Sendable {
    case http10
    case http11
    case http2

    /// As people know it.
    package var name: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }

    /// `received-protocol` of a Via member, without the name of the protocol (RFC 9110 section 7.6.3).
    var viaVersion: StaticString {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        }
    }
}
