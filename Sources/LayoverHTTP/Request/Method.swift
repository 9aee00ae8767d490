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
