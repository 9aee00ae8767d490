import LayoverSystem

extension Codec {
    /// A list of these. In an environment variable separated by commas, or JSON.
    var list: Codec<[Value]> { listed(isSecret: false) }

    /// The same, but messages do not repeat what stands there.
    var secretList: Codec<[Value]> { listed(isSecret: true) }

    private func listed(isSecret: Bool) -> Codec<[Value]> {
        Codec<[Value]>(
            "list of \(typeName)",
            fromText: { Self.listFromText($0, item: fromText) },
            write: { .array($0.map(write)) },
            read: { (value) throws(Refusal) in
                guard case .array(let items) = value else {
                    throw Refusal(
                        message: isSecret ? "expected a list, not \(value.kind)" : value.mismatch("a list"))
                }
                var values: [Value] = []
                for (index, item) in items.enumerated() {
                    do throws(Refusal) {
                        values.append(try read(item))
                    } catch {
                        throw Refusal(place: "[\(index)]" + error.place, message: error.message)
                    }
                }
                return values
            })
    }

    private static func listFromText(_ text: String, item: (String) -> JSONValue) -> JSONValue {
        let trimmed = text.trimmed
        if trimmed.isEmpty { return .array([]) }
        if trimmed.hasPrefix("["), let value = try? JSONParser.parse(trimmed.utf8) { return value }
        return .array(
            trimmed.split(separator: ",", omittingEmptySubsequences: false).map { item($0.trimmed) })
    }
}

extension Codec where Value == [String: String] {
    /// An object whose members are texts. In an environment variable JSON.
    static func texts(_ typeName: String) -> Codec {
        Codec(
            typeName, fromText: JSONValue.fromText, write: { .object($0.mapValues { .text($0) }) },
            read: { (value) throws(Refusal) in
                guard case .object(let members) = value else {
                    throw Refusal(message: "expected an object, not \(value.kind)")
                }
                var texts: [String: String] = [:]
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    // The member may be a secret: the message does not repeat it.
                    guard case .text(let text) = member else {
                        throw Refusal(
                            place: "." + name, message: "expected a string, not \(member.kind)")
                    }
                    texts[name] = text
                }
                return texts
            })
    }
}

extension JSONValue {
    /// The text as JSON, or as itself where it is none.
    @Sendable static func fromText(_ text: String) -> JSONValue {
        (try? JSONParser.parse(text.utf8)) ?? .text(text)
    }
}

extension StringProtocol {
    /// Without spaces and tabs at its ends.
    var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

extension Codec where Value == [String: PasswordHash] {
    /// Most users. Default: 1000.
    private static let countMax = 1000

    /// Names and password hashes.
    static var users: Codec {
        let members = Codec<[String: String]>.texts("object of names and hashes")
        return Codec(members.typeName, fromText: members.fromText, write: { members.write($0.mapValues(\.text)) }) {
            (value) throws(Refusal) in
            let texts = try members.read(value)
            guard texts.count <= countMax else { throw Refusal(message: "more than \(countMax) users") }
            var users: [String: PasswordHash] = [:]
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                if let complaint = ProxySettings.complaint(aboutUser: name) { throw Refusal(place: "." + name, message: complaint) }
                do throws(PasswordError) {
                    users[name] = try PasswordHash(text)
                } catch {
                    throw Refusal(place: "." + name, message: error.description)
                }
            }
            return users
        }
    }
}
