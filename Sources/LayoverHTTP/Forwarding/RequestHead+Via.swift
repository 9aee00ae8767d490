import NIOCore

// RFC 9110 section 7.6.3.

extension RequestHead {
    /// Appends one field `Via: <members as received>, <own>`.
    ///
    /// - Parameter own: The pseudonym of our member: `layover-0a1b2c3d`.
    package func writeVia(into out: inout RequestFields, own: [UInt8]) {
        out.lines.writeStaticString("Via: ")
        if fields.contains(.via) {
            bytes.withUnsafeReadableBytes { bytes in
                for field in fields.ranges where field.known == .via && !field.value.isEmpty {
                    out.lines.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[field.value]))
                    out.lines.writeStaticString(", ")
                }
            }
        }
        out.lines.writeStaticString(version.viaVersion)
        out.lines.writeStaticString(" ")
        out.lines.writeBytes(own)
        out.lines.writeInteger(0 as UInt8)
    }

    /// Whether a member of a Via field was received by exactly `token`: the request went through us
    /// before. Comments are no place to look for it.
    package func hasViaToken(_ token: [UInt8]) -> Bool {
        guard fields.contains(.via) else { return false }
        return bytes.withUnsafeReadableBytes { bytes in
            fields.ranges.contains { field in
                field.known == .via
                    && ViaMembers(field.value, in: bytes).contains { receivedBy in
                        receivedBy.count == token.count && bytes[receivedBy].elementsEqual(token)
                    }
            }
        }
    }
}

/// The `received-by` of each member of one Via value. A member is
/// `[name/]version RWS received-by [RWS comment]` (RFC 9110 section 7.6.3).
struct ViaMembers: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func next() -> Range<Int>? {
        while offset < end {
            _ = word()
            let receivedBy = word()
            skipToComma()
            if !receivedBy.isEmpty { return receivedBy }
        }
        return nil
    }

    /// The next word of this member. Empty if there is none before a comma or a comment.
    private mutating func word() -> Range<Int> {
        while offset < end, ByteClass.isWhiteSpace(bytes[offset]) { offset += 1 }
        let start = offset
        while offset < end, !ByteClass.isWhiteSpace(bytes[offset]), bytes[offset] != ASCII.comma,
            bytes[offset] != ASCII.parenthesisOpen
        {
            offset += 1
        }
        return start..<offset
    }

    private mutating func skipToComma() {
        while offset < end, bytes[offset] != ASCII.comma {
            if bytes[offset] == ASCII.parenthesisOpen, let close = endOfComment(offset) {
                offset = close
            } else {
                offset += 1
            }
        }
        offset = Swift.min(offset + 1, end)
    }

    /// Nil if the comment is never closed. Then it hides nothing: a lone parenthesis must not make
    /// us blind for our own member behind it.
    private func endOfComment(_ start: Int) -> Int? {
        var depth = 0
        var offset = start
        while offset < end {
            switch bytes[offset] {
            case ASCII.backslash: offset += 1
            case ASCII.parenthesisOpen: depth += 1
            case ASCII.parenthesisClose:
                depth -= 1
                if depth == 0 { return offset + 1 }
            default: break
            }
            offset += 1
        }
        return nil
    }
}
