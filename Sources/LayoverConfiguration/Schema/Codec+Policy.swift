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

extension StandInResponse {
    /// A stand-in is kept in memory for each policy that has one. 64 KiB.
    static let bodyByteCountMax = 64 << 10
    /// Names and values together. Common clients take no more than 16 KiB of a head.
    static let fieldByteCountMax = 8 << 10

    /// Responses that never have a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5).
    static let bodilessStatuses: Set<Int> = [204, 205, 304]
}

extension Codec where Value == StandInResponse {
    /// `{"status":200,"fields":{},"body":""}`. What is left out is as in this example.
    static var standIn: Codec {
        let (status, fields) = (Codec<Int>.integer(200...599), Codec<[String: String]>.fields)
        return Codec(
            "object", fromText: JSONValue.fromText,
            write: { response in
                let lines = response.fields.map { ($0.name, JSONValue.text($0.value.revealed)) }
                return .object([
                    "status": .integer(response.status), "body": .text(response.body),
                    "fields": .object(Dictionary(lines, uniquingKeysWith: { first, _ in first })),
                ])
            },
            read: { (value) throws(Refusal) in
                let members = try value.members(among: ["status", "fields", "body"])
                let given = try members.read("fields", by: fields) ?? [:]
                try checkFields(given)
                let response = StandInResponse(
                    status: try members.read("status", by: status) ?? 200,
                    // Sorted, because an object has no order of its own.
                    fields: given.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) },
                    body: try members.read("body", by: Codec<String>.plain("body") { $0 }) ?? "")
                try checkBody(response)
                return response
            })
    }

    private static func checkFields(_ fields: [String: String]) throws(Refusal) {
        for name in fields.keys.sorted() { try FieldText.checkNotOfResponses(name, place: ".fields." + name) }
        let count = fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= StandInResponse.fieldByteCountMax else {
            throw Refusal(
                place: ".fields", message: "names and values exceed 8KiB (\(count) bytes)")
        }
    }

    private static func checkBody(_ response: StandInResponse) throws(Refusal) {
        let count = response.body.utf8.count
        guard count <= StandInResponse.bodyByteCountMax else {
            throw Refusal(place: ".body", message: "the body exceeds 64KiB (\(count) bytes)")
        }
        guard count == 0 || !StandInResponse.bodilessStatuses.contains(response.status) else {
            throw Refusal(place: ".body", message: "a response with status \(response.status) has no body")
        }
    }
}
