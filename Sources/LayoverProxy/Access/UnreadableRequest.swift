import LayoverCore
import NIOCore

/// Method, URL and user agent of bytes that were refused as a request, as far as they can be found. For the access log only: nothing is
/// decided by them.
struct UnreadableRequest {
    private(set) var method: String?
    /// Without secrets.
    private(set) var url: String?
    private(set) var userAgent: String?

    /// Bytes of the head that are looked at. Default: 16 KiB.
    private static let byteCountMax = 16 << 10
    /// Most lines that are looked at. Default: 200.
    private static let lineCountMax = 200

    /// - Parameter input: From the first byte of the head on.
    init(_ input: ByteBuffer) {
        let lines = input.readableBytesView.prefix(Self.byteCountMax)
            .split(separator: UInt8(ascii: "\n"), maxSplits: Self.lineCountMax, omittingEmptySubsequences: false)
        // An empty line may come before the request line (RFC 9112 section 2.2).
        let head = lines.drop { $0.isEmpty || $0.elementsEqual("\r".utf8) }
        guard let first = head.first else { return }
        readLine(Self.text(first))
        guard method != nil else { return }
        for line in head.dropFirst() {
            let text = Self.text(line)
            if text.isEmpty { return }
            guard let colon = text.firstIndex(of: ":") else { continue }
            if text[..<colon].lowercased() == "user-agent" {
                userAgent = text[text.index(after: colon)...].trimmingSpaces
                return
            }
        }
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    private static func text(_ line: some Sequence<UInt8>) -> String {
        let text = String(decoding: Array(line), as: UTF8.self)
        return text.utf8.last == UInt8(ascii: "\r") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
    }

    /// `method target version`, whatever the target is.
    private mutating func readLine(_ line: String) {
        guard let space = line.firstIndex(of: " "), space != line.startIndex else { return }
        let word = line[..<space]
        guard word.utf8.count <= 64, word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return }
        var target = line[line.index(after: space)...]
        if let last = target.lastIndex(of: " "), target[target.index(after: last)...].lowercased().hasPrefix("http/") {
            target = target[..<last]
        }
        let text = target.trimmingSpaces
        guard !text.isEmpty else { return }
        method = String(word)
        url = MaskedURL.text(MaskedTicketIDs.text(Self.withoutUserinfo(text, isAuthority: word == "CONNECT")))
    }

    /// Userinfo is removed up to the last `@`: where the target is malformed, nobody knows how far it reaches.
    private static func withoutUserinfo(_ target: String, isAuthority: Bool) -> String {
        guard let at = target.lastIndex(of: "@") else { return target }
        if let scheme = target.utf8.firstRange(of: "://".utf8), scheme.upperBound <= at {
            return String(target[..<scheme.upperBound] + target[target.index(after: at)...])
        }
        return isAuthority || !target.hasPrefix("/") ? String(target[target.index(after: at)...]) : target
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = utf8.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        return String(Substring(bytes))
    }
}
