/// A set of known fields in one word.
package struct KnownFieldSet: Sendable, Equatable {
    private var bits: UInt64 = 0

    package init() {}

    package init(_ fields: KnownField...) {
        for field in fields { insert(field) }
    }

    package mutating func insert(_ field: KnownField) { bits |= 1 << UInt64(field.rawValue) }

    package func contains(_ field: KnownField) -> Bool {
        bits & (1 << UInt64(field.rawValue)) != 0
    }

    package func union(_ other: Self) -> Self {
        var union = self
        union.bits |= other.bits
        return union
    }
}
