import LayoverText

/// Looks up one value in a JSON text (RFC 8259). All of the text is checked; the text of a number is kept as it is written.
struct JSONLookup {
    /// What the keys lead to.
    enum Result: Equatable {
        /// A string, decoded, or the text of a number or boolean. Valid UTF-8.
        case scalar([UInt8])
        case null
        /// An object or an array.
        case container
        case absent
    }

    /// Why nothing can be looked up.
    enum Failure: Error {
        case malformed, tooDeep
    }

    let bytes: UnsafeRawBufferPointer
    let depthMax: Int
    var offset = 0

    /// Of a member that is there several times, the last one counts, as in ECMAScript.
    static func value(
        at keys: [String], in bytes: UnsafeRawBufferPointer, depthMax: Int
    ) throws(Failure) -> Result {
        var lookup = JSONLookup(bytes: bytes, depthMax: depthMax)
        // A byte order mark is tolerated (section 8.1).
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { lookup.offset = 3 }
        let path = keys.map { Array($0.utf8) }
        let result = try lookup.value(path[...], depth: 0)
        lookup.skipSpace()
        guard lookup.offset == bytes.count else { throw .malformed }
        return result
    }

    private init(bytes: UnsafeRawBufferPointer, depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        skipSpace()
        guard byte == wanted else { return false }
        offset += 1
        return true
    }

    /// - Parameter path: The keys that lead on from here; nil when the value is only passed over.
    private mutating func value(_ path: ArraySlice<[UInt8]>?, depth: Int) throws(Failure) -> Result {
        guard depth <= depthMax else { throw .tooDeep }
        skipSpace()
        switch byte {
        case UInt8(ascii: "{"): return try object(path, depth: depth)
        case UInt8(ascii: "["): return try array(path, depth: depth)
        default: break
        }
        // A key leads into an object or an array only.
        let isWanted = path?.isEmpty == true
        guard let scalar = try scalar(isWanted: isWanted) else { return isWanted ? .null : .absent }
        return isWanted ? .scalar(scalar) : .absent
    }

    private mutating func scalar(isWanted: Bool) throws(Failure) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\""): return try string(isWanted: isWanted)
        case UInt8(ascii: "t"): return try word("true")
        case UInt8(ascii: "f"): return try word("false")
        case UInt8(ascii: "n"):
            _ = try word("null")
            return nil
        default: return try number()
        }
    }

    private mutating func object(_ path: ArraySlice<[UInt8]>?, depth: Int) throws(Failure) -> Result {
        offset += 1
        var result = path?.isEmpty == true ? Result.container : .absent
        if take(UInt8(ascii: "}")) { return result }
        repeat {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw .malformed }
            let key = try string(isWanted: path?.isEmpty == false)
            guard take(UInt8(ascii: ":")) else { throw .malformed }
            if let path, path.first == key {
                result = try value(path.dropFirst(), depth: depth + 1)
            } else {
                _ = try value(nil, depth: depth + 1)
            }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .malformed }
        return result
    }

    private mutating func array(_ path: ArraySlice<[UInt8]>?, depth: Int) throws(Failure) -> Result {
        offset += 1
        var result = path?.isEmpty == true ? Result.container : .absent
        if take(UInt8(ascii: "]")) { return result }
        var index = 0
        repeat {
            if let path, let key = path.first, key == Array(String(index).utf8) {
                result = try value(path.dropFirst(), depth: depth + 1)
            } else {
                _ = try value(nil, depth: depth + 1)
            }
            index += 1
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .malformed }
        return result
    }
}

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

/// Values from small JSON texts.
enum JSONText {
    /// Nil when the text is malformed or there is no string, number or boolean at the keys.
    static func scalar(at keys: [String], in text: [UInt8]) -> String? {
        text.withUnsafeBytes { bytes in
            guard case .scalar(let value)? = try? JSONLookup.value(at: keys, in: bytes, depthMax: 32) else { return nil }
            return String(decoding: value, as: UTF8.self)
        }
    }
}
