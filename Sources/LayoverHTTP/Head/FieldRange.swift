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
