/// Writes values in a compact form that `ByteReader` reads: numbers in as many bytes as they need (LEB128, signed
/// ones folded so that small ones stay small), text as its length and its UTF-8.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func write(_ value: Int) { write(Int64(value)) }

    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ span: some Collection<UInt8>) {
        write(UInt64(span.count))
        bytes.append(contentsOf: span)
    }

    /// A 0, or a 1 and the value.
    mutating func write<Value>(optional value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
        self.write(value != nil)
        if let value { write(&self, value) }
    }

    mutating func write(_ text: String?) { write(optional: text) { $0.write($1) } }

    /// By name, so that the order of the cases may change.
    mutating func write(_ value: some RawRepresentable<String>) { write(value.rawValue) }
}

/// Reads the output of `ByteWriter`. For any other bytes it throws, and never traps.
struct ByteReader {
    /// The bytes are not the output of `ByteWriter`.
    struct Malformed: Error {}

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// The bytes have to live as long as the reader.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func readUInt64() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        throw Malformed()
    }

    mutating func readInt64() throws(Malformed) -> Int64 {
        let folded = try readUInt64()
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    mutating func readInt() throws(Malformed) -> Int { Int(try readInt64()) }

    mutating func readInt32() throws(Malformed) -> Int32 {
        guard let value = Int32(exactly: try readInt64()) else { throw Malformed() }
        return value
    }

    mutating func readBool() throws(Malformed) -> Bool {
        guard position < bytes.count, bytes[position] < 2 else { throw Malformed() }
        position += 1
        return bytes[position - 1] == 1
    }

    mutating func readSpan() throws(Malformed) -> UnsafeRawBufferPointer {
        let count = try readUInt64()
        guard count <= UInt64(bytes.count - position) else { throw Malformed() }
        let span = UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])
        position += Int(count)
        return span
    }

    mutating func readText() throws(Malformed) -> String {
        String(decoding: try readSpan(), as: UTF8.self)
    }

    mutating func readOptional<Value>(
        _ read: (inout ByteReader) throws(Malformed) -> Value
    ) throws(Malformed) -> Value? {
        try readBool() ? try read(&self) : nil
    }

    mutating func readOptionalText() throws(Malformed) -> String? {
        try readBool() ? try readText() : nil
    }

    mutating func readName<Value: RawRepresentable<String>>(_: Value.Type = Value.self) throws(Malformed) -> Value {
        guard let value = Value(rawValue: try readText()) else { throw Malformed() }
        return value
    }
}
