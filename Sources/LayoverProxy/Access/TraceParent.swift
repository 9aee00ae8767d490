import LayoverHTTP
import LayoverText

/// The field `traceparent` of a request (W3C Trace Context, section 3.2), for the log. The field itself passes unchanged.
struct TraceParent: Hashable {
    /// As it came.
    let text: String

    /// Nil: the head has no such field, several, or an invalid one, which receivers must ignore.
    init?(of head: RequestHead) {
        let values = head.fields.values(of: "traceparent")
        guard let value = values.first, values.count == 1, value.count <= Self.byteCountMax else { return nil }
        self.init(head.fields.string(value))
    }

    /// Later versions may add to the end; nobody needs much for it. Default: 128.
    private static let byteCountMax = 128
    private static let version0ByteCount = 55

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.version0ByteCount, bytes.count <= Self.byteCountMax else { return nil }
        for (index, byte) in bytes.prefix(Self.version0ByteCount).enumerated() {
            let isDash = index == 2 || index == 35 || index == 52
            guard isDash ? byte == UInt8(ascii: "-") : Hexadecimal.isLowercaseDigit(byte) else { return nil }
        }
        let version = bytes[..<2]
        let isZero = { (range: Range<Int>) in bytes[range].allSatisfy { $0 == UInt8(ascii: "0") } }
        guard !version.elementsEqual("ff".utf8), !isZero(3..<35), !isZero(36..<52) else { return nil }
        if bytes.count > Self.version0ByteCount {
            guard !isZero(0..<2), bytes[Self.version0ByteCount] == UInt8(ascii: "-"),
                bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
            else { return nil }
        }
        self.text = text
    }
}
