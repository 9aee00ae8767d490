/// A field that a client may send, with much of what parsers stumble over.
package struct RandomField: Sendable, Equatable {
    package let name: String
    /// Without white space around it.
    package let value: [UInt8]

    package init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// As it stands in a message; an empty value has nothing behind its colon.
    package var line: [UInt8] { Array("\(name):".utf8) + (value.isEmpty ? [] : [0x20] + value) + [13, 10] }

    private static let names = ["X-A", "x-a", "X-!#$%&'*+-.^_`|~09", "X", "X-Empty", "X-Long-" + String(repeating: "n", count: 60)]
    private static let pieces: [[UInt8]] =
        [":", ";", ": ", ";;", " ", "\t", "a", "b=c", "\"", ",", "~", "X-A: 1", String(repeating: "v", count: 90)].map { Array($0.utf8) }
        + [[0xE9], [0xFF, 0x80], [0xC3, 0xA9], [0x85]]

    /// Some fields; names come again in another case.
    package static func some(using generator: inout some RandomNumberGenerator) -> [RandomField] {
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            var value: [UInt8] = []
            for _ in 0..<Int.random(in: 0...5, using: &generator) { value += pieces.randomElement(using: &generator) ?? [] }
            while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
            return RandomField(
                name: names.randomElement(using: &generator) ?? "X", value: Array(value.drop { $0 == 0x20 || $0 == 0x09 }))
        }
    }
}

/// A reproducible source of randomness (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
