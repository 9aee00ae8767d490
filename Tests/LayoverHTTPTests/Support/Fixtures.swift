import LayoverHTTP
import NIOCore
import Testing

/// The head of one request.
func requestHead(_ text: String, isHTTP2: Bool = false) throws -> RequestHead {
    var decoder = RequestDecoder(isHTTP2: isHTTP2)
    var input = ByteBuffer(bytes: latin1(text))
    guard case .head(let head) = try decoder.next(&input) else { throw IncompleteInput() }
    return head
}

/// The head of a request with these lines as its fields, besides Host.
func requestHead(fields: String..., method: String = "GET", version: String = "1.1") throws -> RequestHead {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return try requestHead("\(method) / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n")
}

struct IncompleteInput: Error {}

/// Feeds the text line by line, as libcurl does. Lines are cut behind each LF.
func responseHeads(
    _ text: String, to assembler: inout ResponseHeadAssembler
) throws(FramingError) -> [ResponseHead] {
    var heads: [ResponseHead] = []
    for line in lines(latin1(text)) {
        let result = line.withUnsafeBytes { bytes in
            Result { () throws(FramingError) in try assembler.take(line: bytes) }
        }
        if let head = try result.get() { heads.append(head) }
    }
    return heads
}

func lines(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    for byte in bytes {
        line.append(byte)
        if byte == 0x0A {
            lines.append(line)
            line = []
        }
    }
    return line.isEmpty ? lines : lines + [line]
}

extension ByteBuffer {
    /// The bytes as Latin-1, with `|` for NUL.
    var visible: String {
        String(String.UnicodeScalarView(readableBytesView.map { $0 == 0 ? "|" : Unicode.Scalar($0) }))
    }
}
