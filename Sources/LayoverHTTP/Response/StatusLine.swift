/// A status line (RFC 9112 section 4).
struct StatusLine: Sendable {
    /// 0 or 1.
    let minorVersion: Int
    /// 100 to 999. RFC 9110 section 15 leaves 600 and above invalid and tells a client to take them for a 5xx;
    /// what they mean is between the two ends, so they pass as they are.
    let status: Int

    /// `HTTP/1.x SP 3DIGIT [SP reason]`. Many servers leave out the space when they have no reason.
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(FramingError) {
        guard line.count >= 12 else { throw .malformedStatusLine }
        let start = line.lowerBound
        if ByteText.equals("HTTP/1.1 ", in: bytes, start..<(start + 9)) {
            minorVersion = 1
        } else if ByteText.equals("HTTP/1.0 ", in: bytes, start..<(start + 9)) {
            minorVersion = 0
        } else {
            throw .malformedStatusLine
        }
        guard let status = DecimalNumber.value(of: (start + 9)..<(start + 12), in: bytes),
            line.count == 12 || bytes[start + 12] == ASCII.space
        else { throw .malformedStatusLine }
        guard (100...999).contains(status) else { throw .statusOutOfRange }
        if ByteScan.hasControl(in: bytes, (start + 12)..<line.upperBound) {
            throw .malformedStatusLine
        }
        self.status = status
    }
}
