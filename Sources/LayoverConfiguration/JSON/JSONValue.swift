/// A value of a configuration file, before it is known what it is for.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The message for a value of the wrong kind.
    func mismatch(_ needed: String) -> String {
        "expected \(needed), not \(excerpt)"
    }

    /// The kind of the value, as messages name it.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .text: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
