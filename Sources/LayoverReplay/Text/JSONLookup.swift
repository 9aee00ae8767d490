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
