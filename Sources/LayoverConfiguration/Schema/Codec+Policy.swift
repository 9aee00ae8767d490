import LayoverCore

extension Codec where Value == RetryCondition {
    static var retryCondition: Codec {
        .text("condition", write: \.word) { (word) throws(Refusal) in
            if let condition = RetryCondition(word) { return condition }
            let known = ["connectivity", "dns", "connect", "timeout", "reset", "tls-handshake"]
            let nearest = NearestName.of(word, among: known + FailureKind.allCases.map(\.rawValue))
            throw Refusal(
                message: "\(JSONValue.text(word).excerpt) is not a condition"
                    + (nearest.map { " (did you mean \($0)?)" } ?? ""))
        }
    }
}

extension RetryCondition {
    var isStatus: Bool { if case .status = self { true } else { false } }
}

extension Codec where Value == PolicySettings.ExhaustedRule {
    static var exhaustedRule: Codec {
        Codec(
            "\"fail\", \"ask\" or object", fromText: JSONValue.fromText,
            write: { rule in
                switch rule {
                case .fail: .text("fail")
                case .ask: .text("ask")
                case .standIn(let answer): answer
                }
            },
            read: { (value) throws(Refusal) in
                switch value {
                case .text("fail"): return .fail
                case .text("ask"): return .ask
                case .object(let members):
                    try members.check([
                        "status": { (member) throws(Refusal) in
                            _ = try Codec<Int>.integer(100...599).read(member)
                        },
                        "fields": { (member) throws(Refusal) in
                            _ = try Codec<[String: String]>.fields.read(member)
                        },
                        "body": { (member) throws(Refusal) in
                            _ = try Codec<String>.plain("text") { $0 }.read(member)
                        },
                    ])
                    return .standIn(value)
                default: throw Refusal(message: "\(value.excerpt) is none of fail, ask and an object")
                }
            })
    }
}

extension Codec where Value == String {
    /// `origin`, `path:<n>` or `field:<name>`.
    static var lane: Codec {
        .plain("lane") { (text) throws(Refusal) in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let isLane =
                switch (parts.first, parts.count) {
                case ("origin", 1): true
                case ("path", 2): Int(parts[1]).map { $0 > 0 } ?? false
                case ("field", 2): FieldText.isToken(String(parts[1]))
                default: false
                }
            guard isLane else {
                throw Refusal(
                    message:
                        "\(JSONValue.text(text).excerpt) is not a lane "
                        + "(write origin, path:2 or field:Account)"
                )
            }
            return text
        }
    }
}

extension Codec where Value == JSONValue {
    /// `{"ratio":0.2,"minimum":3}`.
    static var budget: Codec {
        object([
            "ratio": { (member) throws(Refusal) in
                _ = try Codec<Double>.number(from: 0, to: 1000).read(member)
            },
            "minimum": { (member) throws(Refusal) in _ = try Codec<Int>.integer(0...1_000_000).read(member) },
        ])
    }

    /// `{"method":"HEAD","dropOn":["404"],"askOn":["412"]}`.
    static var preflight: Codec {
        let statuses = Codec<String>.plain("status") { (text) throws(Refusal) in
            guard let status = Int(text), (100...599).contains(status) else {
                throw Refusal(message: "\(JSONValue.text(text).excerpt) is not a status")
            }
            return text
        }.list
        return object([
            "method": { (member) throws(Refusal) in _ = try Codec<String>.token("method").read(member) },
            "dropOn": { (member) throws(Refusal) in _ = try statuses.read(member) },
            "askOn": { (member) throws(Refusal) in _ = try statuses.read(member) },
        ])
    }

    private static func object(_ members: [String: MemberCheck]) -> Codec {
        Codec(
            "object", fromText: JSONValue.fromText, write: { $0 },
            read: { (value) throws(Refusal) in
                guard case .object(let given) = value else {
                    throw Refusal(message: value.mismatch("an object"))
                }
                try given.check(members)
                return value
            })
    }
}

typealias MemberCheck = @Sendable (JSONValue) throws(Refusal) -> Void

extension [String: JSONValue] {
    /// Refuses unknown members and those that their check refuses.
    fileprivate func check(_ known: [String: MemberCheck]) throws(Refusal) {
        for (name, member) in sorted(by: { $0.key < $1.key }) {
            guard let check = known[name] else {
                throw Refusal(
                    place: "." + name, message: NearestName.complaint(name, known: Array(known.keys)))
            }
            do {
                try check(member)
            } catch {
                throw Refusal(place: "." + name + error.place, message: error.message)
            }
        }
    }
}
