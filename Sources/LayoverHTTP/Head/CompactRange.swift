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
