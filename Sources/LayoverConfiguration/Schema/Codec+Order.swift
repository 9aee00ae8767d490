import LayoverCore

extension Codec where Value == LaneRule {
    /// `origin`, `path:<n>` or `field:<name>`.
    static var lane: Codec {
        .text("lane", sample: "origin", write: laneText) { (text) throws(Refusal) in
            if text == "origin" { return .origin }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            switch (parts.first, parts.last.map { String($0) }) {
            case ("path", let number?) where parts.count == 2:
                // Of the spellings of a number only the plain one is taken.
                guard let count = Int(number), String(count) == number, (1...64).contains(count) else {
                    throw refusal(text, "the number of segments must be from 1 to 64")
                }
                return .path(count)
            case ("field", let name?) where parts.count == 2:
                guard FieldText.isToken(name) else {
                    throw refusal(text, "the colon must be followed by a field name")
                }
                return .field(name)
            default:
                throw refusal(text, "write origin, path:2 or field:Account")
            }
        }
    }

    @Sendable private static func laneText(_ lane: LaneRule) -> String {
        switch lane {
        case .origin: "origin"
        case .path(let count): "path:\(count)"
        case .field(let name): "field:\(name)"
        }
    }

    private static func refusal(_ text: String, _ reason: String) -> Refusal {
        Refusal(message: "\(JSONValue.text(text).excerpt) is not a lane (\(reason))")
    }
}

extension Codec where Value == Preflight {
    /// `{"method":"HEAD","dropOn":["404","410"],"askOn":["412"]}`. What is left out is as in this example.
    static var preflight: Codec {
        let (method, statuses) = (Codec<String>.questionMethod, Codec<Int>.finalStatus.list)
        return Codec(
            "object", fromText: JSONValue.fromText,
            write: {
                .object([
                    "method": method.write($0.method), "dropOn": statuses.write($0.dropOn),
                    "askOn": statuses.write($0.askOn),
                ])
            },
            read: { (value) throws(Refusal) in
                let members = try value.members(among: ["method", "dropOn", "askOn"])
                var preflight = Preflight()
                preflight.method = try members.read("method", by: method) ?? preflight.method
                preflight.dropOn = try members.read("dropOn", by: statuses) ?? preflight.dropOn
                preflight.askOn = try members.read("askOn", by: statuses) ?? preflight.askOn
                try checkStatuses(of: preflight, dropOnIsGiven: members["dropOn"] != nil)
                return preflight
            })
    }

    /// One status has one meaning, and a question whose answer changes nothing is none.
    private static func checkStatuses(
        of preflight: Preflight, dropOnIsGiven: Bool
    ) throws(Refusal) {
        guard !preflight.dropOn.isEmpty || !preflight.askOn.isEmpty else {
            throw Refusal(message: "dropOn or askOn must list at least one status")
        }
        for (index, status) in preflight.askOn.enumerated() where preflight.dropOn.contains(status) {
            let hint =
                dropOnIsGiven
                ? "" : ", whose default is \(preflight.dropOn.map { "\($0)" }.joined(separator: " "))"
            throw Refusal(place: ".askOn[\(index)]", message: "\"\(status)\" is also listed in dropOn\(hint)")
        }
    }
}

extension Codec where Value == String {
    /// A method that changes nothing (`RequestMethod.isSafe`) and needs no body. TRACE is not among them: it sends credentials
    /// back (RFC 9110 section 9.3.8).
    fileprivate static var questionMethod: Codec {
        let known = ["HEAD", "GET", "OPTIONS"]
        let method = token("method")
        return plain(method.typeName) { (text) throws(Refusal) in
            let text = try method.read(.text(text))
            guard known.contains(text) else {
                throw Refusal(
                    message: "\(JSONValue.text(text).excerpt) is not one of \(known.joined(separator: ", "))")
            }
            return text
        }
    }
}

extension Codec where Value == Int {
    /// `"404"`. Interim statuses never end an exchange (RFC 9110 section 15.2).
    fileprivate static var finalStatus: Codec {
        .text("status", sample: "404", write: { "\($0)" }) { (text) throws(Refusal) in
            guard let status = Int(text), String(status) == text, (200...599).contains(status) else {
                throw Refusal(
                    message: "\(JSONValue.text(text).excerpt) is not a final status (\"200\" to \"599\")")
            }
            return status
        }
    }
}
