package import NIOCore

/// The fields of one head or trailer section: its bytes as they came, and where each field stands.
///
/// Ranges are offsets from the first readable byte of `bytes`. Order, duplicates, case of the names
/// and bytes of the values are those of the sender.
package struct FieldBlock: Sendable {
    /// The whole section (for a head: with its first line), slice of what was received.
    package let bytes: ByteBuffer

    /// One range per field, in order.
    package let ranges: [FieldRange]

    /// Which of the known names occur.
    package let known: KnownFieldSet

    init(bytes: ByteBuffer, ranges: [FieldRange]) {
        self.bytes = bytes
        self.ranges = ranges
        var known = KnownFieldSet()
        for range in ranges { known.insert(range.known) }
        self.known = known
    }

    package var count: Int { ranges.count }
    package var isEmpty: Bool { ranges.isEmpty }

    package func contains(_ field: KnownField) -> Bool { known.contains(field) }

    /// Where the value of the first field of that name stands.
    package func first(_ field: KnownField) -> Range<Int>? {
        guard known.contains(field) else { return nil }
        for range in ranges where range.known == field { return range.value }
        return nil
    }

    /// Where the values of all fields of that name stand, in order.
    package func values(_ field: KnownField) -> [Range<Int>] {
        guard known.contains(field) else { return [] }
        return ranges.lazy.filter { $0.known == field }.map(\.value)
    }

    /// Where the values of all fields of that name stand, in order. The name may have any case.
    package func values(of name: StaticString) -> [Range<Int>] {
        bytes.withUnsafeReadableBytes { bytes in
            var values: [Range<Int>] = []
            for range in ranges where ByteText.equalsIgnoringCase(name, in: bytes, range.name) {
                values.append(range.value)
            }
            return values
        }
    }

    package func contains(_ name: StaticString) -> Bool {
        bytes.withUnsafeReadableBytes { bytes in
            ranges.contains { ByteText.equalsIgnoringCase(name, in: bytes, $0.name) }
        }
    }

    /// The bytes of a range, shared with `bytes`.
    package func slice(_ range: Range<Int>) -> ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count)
            ?? ByteBuffer()
    }

    /// The range as text. Bytes that are not UTF-8 become U+FFFD, so never forward this.
    package func string(_ range: Range<Int>) -> String {
        bytes.getString(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ""
    }

    /// The value of the first field of that name as text, for reading only.
    package func string(_ field: KnownField) -> String? { first(field).map(string) }

    /// Whether the bytes of the range equal `other`, without regard to ASCII case.
    package func equalsIgnoringCase(_ range: Range<Int>, _ other: StaticString) -> Bool {
        bytes.withUnsafeReadableBytes { ByteText.equalsIgnoringCase(other, in: $0, range) }
    }
}

/// Without names and values: a buffer prints as its bytes.
extension FieldBlock: CustomStringConvertible {
    package var description: String { "\(count) fields, \(bytes.readableBytes) bytes" }
}
