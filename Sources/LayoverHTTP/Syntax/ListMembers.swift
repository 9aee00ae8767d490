/// The members of a comma-separated list (RFC 9110 section 5.6.1), without white space and without
/// empty ones. Quoted strings are not looked at: the lists read here are lists of tokens.
struct ListMembers: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func next() -> Range<Int>? {
        while offset < end {
            let comma = ByteScan.first(ASCII.comma, in: bytes, offset..<end) ?? end
            let member = ByteScan.trimmed(offset..<comma, in: bytes)
            offset = Swift.min(comma &+ 1, end)
            if !member.isEmpty { return member }
        }
        return nil
    }
}
