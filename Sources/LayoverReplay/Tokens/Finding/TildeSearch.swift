package import NIOCore

/// Looks for tildes in a body while it arrives, so that a body without one is never read again for its tokens.
///
/// Finds every tilde that may begin a token, in any spelling: `~`, `%7E`, `\u007e`. Also others; whether there are
/// tokens is for `TokenScan` to say.
package struct TildeSearch: Sendable {
    /// Whether there was one.
    package private(set) var hasFound = false

    private let type: BodyType
    /// The last bytes of what was read, at most five: a spelling may be cut in two.
    private var tail: [UInt8] = []

    /// - Parameter type: Of the body. A body of another type than JSON and form has no tokens and is not looked at.
    package init(_ type: BodyType) {
        self.type = type
    }

    /// Reads on.
    package mutating func read(_ bytes: ByteBuffer) {
        guard type != .other, !hasFound, bytes.readableBytes > 0 else { return }
        let head = tail + bytes.readableBytesView.prefix(5)
        hasFound = head.withUnsafeBytes { Self.hasTilde($0, type) } || bytes.withUnsafeReadableBytes { Self.hasTilde($0, type) }
        tail = Array((tail + bytes.readableBytesView.suffix(5)).suffix(5))
    }

    /// Whether any byte of the text may begin a token.
    static func hasTilde(_ bytes: UnsafeRawBufferPointer, _ type: BodyType) -> Bool {
        if bytes.contains(UInt8(ascii: "~")) { return true }
        switch type {
        case .other: return false
        case .form: return hasEscaped(bytes, .percentEncoded, UInt8(ascii: "%"))
        case .json: return hasEscaped(bytes, .json, UInt8(ascii: "\\"))
        }
    }

    private static func hasEscaped(_ bytes: UnsafeRawBufferPointer, _ spelling: TokenSpelling, _ first: UInt8) -> Bool {
        var rest = bytes[...]
        while let offset = rest.firstIndex(of: first) {
            if spelling.character(at: offset, in: bytes, end: bytes.count)?.byte == UInt8(ascii: "~") { return true }
            rest = bytes[(offset + 1)...]
        }
        return false
    }
}
