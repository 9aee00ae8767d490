/// A status line (RFC 9112 section 4).
struct StatusLine: Sendable {
    /// 0 or 1. A higher one is processed as 1 (RFC 9110 section 2.5).
    let minorVersion: Int
    /// Whether the line has a reason, or the space before an empty one.
    let hasReason: Bool
    /// The status, 100 to 999. RFC 9110 section 15 calls 600 and above invalid and tells a client to treat them as a 5xx.
    /// Layover passes them on unchanged: only client and origin know what they mean.
    let status: Int

    /// `HTTP/1.DIGIT SP 3DIGIT [SP reason]`. Many servers leave out the space when they have no reason.
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
        guard line.count >= 12 else { throw .malformedStatusLine }
        let start = line.lowerBound
        guard ByteText.equals("HTTP/1.", in: bytes, start..<(start + 7)), ByteClass.isDigit(bytes[start + 7]),
            bytes[start + 8] == ASCII.space
        else { throw .malformedStatusLine }
        minorVersion = bytes[start + 7] == ASCII.zero ? 0 : 1
        guard let status = DecimalNumber.value(of: (start + 9)..<(start + 12), in: bytes),
            line.count == 12 || bytes[start + 12] == ASCII.space
        else { throw .malformedStatusLine }
        guard (100...999).contains(status) else { throw .statusOutOfRange }
        if ByteScan.hasControl(in: bytes, (start + 12)..<line.upperBound) {
            throw .malformedStatusLine
        }
        self.status = status
        hasReason = line.count > 12
    }
}
