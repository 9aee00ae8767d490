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

/// Reads field lines up to the empty line, as far as the bytes reach.
struct FieldBlockScan: Sendable {
    private(set) var ranges: [FieldRange] = []

    /// Reads on from where `lines` stands.
    ///
    /// - Returns: Whether the empty line was found; `lines.lineStart` is then the offset behind it.
    @inline(__always)
    mutating func read(
        _ bytes: UnsafeRawBufferPointer, lines: inout LineCursor,
        endMax: Int, tooLarge: FramingError, countMax: Int, tooMany: FramingError, isResponse: Bool = false
    ) throws(FramingError) -> Bool {
        while let line = try lines.nextLine(in: bytes, endMax: endMax, tooLong: tooLarge) {
            if line.isEmpty { return true }
            if ranges.count >= countMax { throw tooMany }
            let field = try FieldLine.parse(line, in: bytes, isResponse: isResponse)
            // Most heads have fewer than 16 fields: one allocation.
            if ranges.isEmpty { ranges.reserveCapacity(16) }
            ranges.append(field)
        }
        return false
    }

    /// Hands over what was read and begins anew.
    mutating func take() -> [FieldRange] {
        let taken = ranges
        ranges = []
        return taken
    }
}

/// Where one field stands in the bytes of its head: offsets from the first byte of the head.
///
/// Compact on purpose: a head has one array of these and no other allocation.
package struct FieldRange: Sendable, Equatable {
    private let nameRange: CompactRange
    private let valueRange: CompactRange
    /// The name, if it is one that a rule looks for.
    package let known: KnownField

    init(name: Range<Int>, value: Range<Int>, known: KnownField) {
        nameRange = CompactRange(name)
        valueRange = CompactRange(value)
        self.known = known
    }

    /// The name as it came.
    package var name: Range<Int> { nameRange.range }

    /// The value without the white space around it. May be empty.
    package var value: Range<Int> { valueRange.range }
}

/// A range of offsets into a head, in half the memory.
///
/// Heads are handed from hand to hand as values, and copying them showed in profiles. A head is far
/// smaller than 2 GiB (`FramingLimits`), so 32 bits are enough.
struct CompactRange: Sendable, Equatable {
    private let lowerBound: Int32
    private let upperBound: Int32

    @inline(__always)
    init(_ range: Range<Int>) {
        lowerBound = Int32(truncatingIfNeeded: range.lowerBound)
        upperBound = Int32(truncatingIfNeeded: range.upperBound)
    }

    @inline(__always)
    var range: Range<Int> { Int(lowerBound)..<Int(upperBound) }
}
