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
