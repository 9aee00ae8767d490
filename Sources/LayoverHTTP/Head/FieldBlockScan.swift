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
