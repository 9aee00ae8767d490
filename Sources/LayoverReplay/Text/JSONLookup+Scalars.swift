import LayoverText

/// Strings, numbers and words.
extension JSONLookup {
    mutating func word(_ text: StaticString) throws(Failure) -> [UInt8] {
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        let end = offset + expected.count
        guard end <= bytes.count, bytes[offset..<end].elementsEqual(expected) else { throw .malformed }
        offset = end
        return Array(expected)
    }

    /// `number` of RFC 8259 section 6.
    mutating func number() throws(Failure) -> [UInt8] {
        let start = offset
        if byte == UInt8(ascii: "-") { offset += 1 }
        if byte == UInt8(ascii: "0") {
            offset += 1
        } else {
            try digits()
        }
        if byte == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            offset += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        return Array(bytes[start..<offset])
    }

    private mutating func digits() throws(Failure) {
        let start = offset
        while let byte, (48...57).contains(byte) { offset += 1 }
        guard offset > start else { throw .malformed }
    }

    /// The decoded text of the string that begins here; empty when it is not wanted.
    mutating func string(isWanted: Bool) throws(Failure) -> [UInt8] {
        offset += 1
        var text: [UInt8] = []
        while let byte {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                // Whoever wants it writes it elsewhere, where it must be text.
                guard String(validating: text, as: UTF8.self) != nil else { throw .malformed }
                return text
            case UInt8(ascii: "\\"):
                let character = try escape()
                if isWanted { text.append(contentsOf: Array(String(character).utf8)) }
            case ..<0x20:
                throw .malformed
            default:
                if isWanted { text.append(byte) }
            }
        }
        throw .malformed
    }

    /// The character of the escape whose backslash is behind us (RFC 8259 section 7).
    private mutating func escape() throws(Failure) -> Unicode.Scalar {
        guard let letter = byte else { throw .malformed }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint()
        default: throw .malformed
        }
    }

    private mutating func codePoint() throws(Failure) -> Unicode.Scalar {
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        // A surrogate: its other half must follow.
        guard high < 0xDC00, byte == UInt8(ascii: "\\") else { throw .malformed }
        offset += 1
        guard byte == UInt8(ascii: "u") else { throw .malformed }
        offset += 1
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw .malformed }
        return scalar
    }

    private mutating func codeUnit() throws(Failure) -> UInt32 {
        guard let unit = Hexadecimal.number(at: offset, count: 4, in: bytes, end: bytes.count) else { throw .malformed }
        offset += 4
        return unit
    }
}
