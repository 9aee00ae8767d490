/// Content at a URL. Each byte shows its version and its position.
struct Representation: Hashable {
    let number: Int
    let version: Int
    let byteCount: Int

    /// A strong entity tag.
    var tag: String { "\"r\(number)v\(version)\"" }

    func byte(at offset: Int) -> UInt8 { Self.byte(of: number, version, at: offset) }

    private static func byte(of number: Int, _ version: Int, at offset: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: number &* 31 &+ version &* 101 &+ offset &* 7 &+ offset >> 8)
    }

    /// True if the bytes belong to the representation of this tag.
    static func isPart(_ bytes: [UInt8], at start: Int, ofTag tag: String) -> Bool {
        let numbers = tag.drop { $0 != "r" }.dropFirst().dropLast().split(separator: "v").compactMap { Int($0) }
        guard numbers.count == 2 else { return false }
        for (index, byte) in bytes.enumerated() where byte != Self.byte(of: numbers[0], numbers[1], at: start + index) { return false }
        return true
    }
}

/// How an origin answers a request for the rest of a representation.
enum Rest: CaseIterable {
    case right, overlapping, short, ofUnknownTotal
    // Replies that must not be passed on:
    case changed, otherTag, noTag, startsTooLate, tooLong, ofOtherLength, otherEncoding, severalParts

    var isGood: Bool { [.right, .overlapping, .short, .ofUnknownTotal].contains(self) }
}
