import LayoverText
import NIOCore

/// The reason phrases of statuses (RFC 9110 section 15): of the proxy's own responses, and of those that were kept.
enum StatusText {
    static func reason(of status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: "Error"
        }
    }
}

/// The field line `Date` of the current second. Made once a second at most, so that a response costs no allocation for it.
struct DateLine {
    private var second = Int.min
    private var bytes: [UInt8] = []

    /// - Parameter second: Seconds since 1970.
    /// - Returns: The line with its CRLF.
    mutating func bytes(at second: Int) -> [UInt8] {
        if second != self.second {
            self.second = second
            bytes = Array("Date: \(HTTPDate.text(second))\r\n".utf8)
        }
        return bytes
    }
}

extension ByteBuffer {
    /// Writes a number without a sign. Negative ones do not occur here and are written as 0.
    mutating func writeDecimal(_ number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = max(0, number)
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            writeBytes(digits[start...])
        }
    }

    /// Moves the bytes from `end` on before those from `place` on. Both are offsets from the first readable byte.
    mutating func moveTail(from end: Int, to place: Int) {
        let count = readableBytes - end
        guard count > 0, place < end, place >= 0 else { return }
        withUnsafeMutableReadableBytes { bytes in
            withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { tail in
                tail.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[end...]))
                // Source and target overlap; `copyMemory` is made for that.
                UnsafeMutableRawBufferPointer(rebasing: bytes[(place + count)...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
                UnsafeMutableRawBufferPointer(rebasing: bytes[place..<(place + count)]).copyMemory(from: UnsafeRawBufferPointer(tail))
            }
        }
    }
}
