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
