import LayoverCore

extension Codec where Value == Policy.AsyncRule {
    /// A value of `async`: one of three words. Version 0.1 had `true` and `false`, which are still read.
    static var asyncRule: Codec {
        Codec(
            word.typeName, fromText: word.fromText, write: word.write,
            read: { (value) throws(Refusal) in
                if let rule = AsyncWord.former(value) { return rule }
                return try word.read(value)
            })
    }
}

/// The former values of `async`.
enum AsyncWord {
    /// Nil: the value is not one of them. The environment has them as text.
    static func former(_ value: JSONValue) -> Policy.AsyncRule? {
        switch value {
        case .bool(true), .text("true"): .always
        case .bool(false), .text("false"): .never
        default: nil
        }
    }
}
