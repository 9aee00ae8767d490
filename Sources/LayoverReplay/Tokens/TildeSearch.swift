package import NIOCore

/// Looks for the beginnings of tokens in a body while it arrives, so that a body without one is never read again.
///
/// Finds `~ticket.` and `~uuid~`, in any spelling: `~`, `%7E`, `\u007e`. Also where no token can stand, outside of
/// strings, say; whether there are tokens is for `TokenScan` to say.
package struct TildeSearch: Sendable {
    /// Whether the search has found one of them.
    package private(set) var hasFound = false

    private let type: BodyType
    /// The last bytes of what was read, at most `cutMax`: a beginning may be cut in two, or in many.
    private var tail: [UInt8] = []

    private static let words = [Array("~ticket.".utf8), Array("~uuid~".utf8)]
    /// One byte less than the longest spelling of a beginning has: eight characters as `\u007e`.
    private static let cutMax = 8 * 6 - 1

    /// - Parameter type: Of the body. A body of another type than JSON and form has no tokens and is not looked at.
    package init(_ type: BodyType) {
        self.type = type
    }

    /// Reads on.
    package mutating func read(_ bytes: ByteBuffer) {
        guard type != .other, !hasFound, bytes.readableBytes > 0 else { return }
        let head = tail + bytes.readableBytesView.prefix(Self.cutMax)
        hasFound =
            head.withUnsafeBytes { Self.hasBeginning($0, type) }
            || bytes.withUnsafeReadableBytes { Self.hasBeginning($0, type) }
        tail = Array((tail + bytes.readableBytesView.suffix(Self.cutMax)).suffix(Self.cutMax))
    }

    private static func hasBeginning(_ bytes: UnsafeRawBufferPointer, _ type: BodyType) -> Bool {
        let (spelling, escape) = spelling(type)
        var offset = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "~") || byte == escape,
                words.contains(where: { begins($0, at: offset, of: bytes, spelling) })
            {
                return true
            }
            offset += 1
        }
        return false
    }

    private static func begins(
        _ word: [UInt8], at offset: Int, of bytes: UnsafeRawBufferPointer, _ spelling: TokenSpelling
    ) -> Bool {
        var cursor = offset
        for wanted in word {
            guard let (byte, next) = spelling.character(at: cursor, in: bytes, end: bytes.count), byte == wanted else {
                return false
            }
            cursor = next
        }
        return true
    }

    private static func spelling(_ type: BodyType) -> (TokenSpelling, escape: UInt8) {
        switch type {
        case .json: (.json, UInt8(ascii: "\\"))
        case .form: (.percentEncoded, UInt8(ascii: "%"))
        case .other: (.plain, UInt8(ascii: "~"))
        }
    }

    /// Whether any byte of the text may begin a token.
    static func hasTilde(_ bytes: UnsafeRawBufferPointer, _ type: BodyType) -> Bool {
        if bytes.contains(UInt8(ascii: "~")) { return true }
        guard type != .other else { return false }
        let (spelling, escape) = spelling(type)
        var rest = bytes[...]
        while let offset = rest.firstIndex(of: escape) {
            if spelling.character(at: offset, in: bytes, end: bytes.count)?.byte == UInt8(ascii: "~") { return true }
            rest = bytes[(offset + 1)...]
        }
        return false
    }
}
