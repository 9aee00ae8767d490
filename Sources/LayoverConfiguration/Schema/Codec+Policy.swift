import LayoverCore

extension Codec where Value == RetryCondition {
    static var retryCondition: Codec {
        .text("condition", sample: "connectivity", write: \.word) { (word) throws(Refusal) in
            let shown = JSONValue.text(word).excerpt
            // Of the spellings of a number only the plain one is a status.
            if let condition = RetryCondition(word), condition.word == word {
                guard !condition.isInterim else {
                    throw Refusal(message: "\(shown) is not a final status (200 to 599)")
                }
                return condition
            }
            let known = ["connectivity", "dns", "connect", "timeout", "reset", "tls-handshake"]
            let types = FailureKind.allCases.map(\.rawValue).filter { RetryCondition($0) != nil }
            let nearest = NearestName.of(word, among: known + types)
            throw Refusal(
                message: "\(shown) is not a condition" + (nearest.map { " (did you mean \($0)?)" } ?? ""))
        }
    }
}

extension RetryCondition {
    /// A status that never ends an exchange (RFC 9110 section 15.2).
    fileprivate var isInterim: Bool { if case .status(let status) = self { status < 200 } else { false } }
}

extension Codec where Value == Policy.ExhaustedRule {
    /// `"fail"`, `"ask"`, or the object of a stand-in response.
    static var exhaustedRule: Codec {
        let standIn = Codec<StandInResponse>.standIn
        return Codec(
            "\"fail\", \"ask\" or object", fromText: JSONValue.fromText,
            write: { rule in
                switch rule {
                case .fail: .text("fail")
                case .ask: .text("ask")
                case .standIn(let response): standIn.write(response)
                }
            },
            read: { (value) throws(Refusal) in
                switch value {
                case .text("fail"): return .fail
                case .text("ask"): return .ask
                case .object: return .standIn(try standIn.read(value))
                default: throw Refusal(message: "\(value.excerpt) is not \"fail\", \"ask\" or an object")
                }
            })
    }
}

extension Codec where Value == Policy.Budget {
    /// `{"ratio":0.2,"minimum":3,"whenSpent":"wait"}`. What is left out is as in the default.
    static var budget: Codec {
        let (ratio, minimum) = (Codec<Double>.number(from: 0, to: 1000), Codec<Int>.integer(0...1_000_000))
        return Codec(
            "object", fromText: JSONValue.fromText,
            write: {
                let whenSpent = Codec<Policy.SpentRule>.word.write($0.whenSpent)
                return .object(["ratio": ratio.write($0.ratio), "minimum": minimum.write($0.minimum), "whenSpent": whenSpent])
            },
            read: { (value) throws(Refusal) in
                let members = try value.members(among: ["ratio", "minimum", "whenSpent"])
                var budget = Policy.Budget()
                budget.ratio = try members.read("ratio", by: ratio) ?? budget.ratio
                budget.minimum = try members.read("minimum", by: minimum) ?? budget.minimum
                budget.whenSpent = try members.read("whenSpent", by: Codec<Policy.SpentRule>.word) ?? budget.whenSpent
                return budget
            })
    }
}

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
    /// The rule that a former value meant. Nil: the value is no former one. The environment has former values as text.
    static func former(_ value: JSONValue) -> Policy.AsyncRule? {
        switch value {
        case .bool(true), .text("true"): .always
        case .bool(false), .text("false"): .never
        default: nil
        }
    }
}
