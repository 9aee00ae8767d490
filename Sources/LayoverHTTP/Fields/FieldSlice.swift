package import NIOCore

/// One field of a text of field lines. Shares the memory of the text.
package struct FieldSlice: Sendable {
    /// The line as it stands there, without what ends it.
    package let line: ByteBuffer

    /// The offset of the value in `line`.
    package let valueStart: Int

    private let nameByteCount: Int
    private let valueByteCount: Int

    init(_ line: ByteBuffer) {
        self.line = line
        let (name, value) = line.withUnsafeReadableBytes { bytes in
            let nameEnd = ByteScan.first(ASCII.colon, in: bytes, 0..<bytes.count) ?? bytes.count
            return (nameEnd, ByteScan.trimmed(min(nameEnd + 1, bytes.count)..<bytes.count, in: bytes))
        }
        nameByteCount = name
        valueStart = value.lowerBound
        valueByteCount = value.count
    }

    /// Whether the line has a colon behind a name. One that has not is never sent.
    package var isField: Bool { nameByteCount > 0 && nameByteCount < line.readableBytes }

    /// The name as it was written.
    package var name: String { line.getString(at: line.readerIndex, length: nameByteCount) ?? "" }

    /// Whether the field has that name, in any case (RFC 9110 section 5.1). Allocates nothing.
    package func isNamed(_ other: String) -> Bool {
        guard other.utf8.count == nameByteCount else { return false }
        return line.withUnsafeReadableBytes { bytes in
            zip(bytes, other.utf8).allSatisfy { ByteClass.lowercased($0) == ByteClass.lowercased($1) }
        }
    }

    package var hasValue: Bool { valueByteCount > 0 }

    /// The value without the white space around it. May be empty.
    package var value: ByteBuffer {
        line.getSlice(at: line.readerIndex + valueStart, length: valueByteCount) ?? ByteBuffer()
    }

    /// The value as text, for reading only: bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(buffer: value) }
}

/// Without name and value: a buffer prints as its bytes.
extension FieldSlice: CustomStringConvertible {
    package var description: String { "a field of \(line.readableBytes) bytes" }
}
