/// How one type of value is written in a file and in an environment variable.
struct Codec<Value: Sendable & Hashable>: Sendable {
    /// What the documentation calls it.
    let typeName: String
    let read: @Sendable (JSONValue) throws(Refusal) -> Value
    let write: @Sendable (Value) -> JSONValue
    /// Turns the text of an environment variable or of a command line option into what `read`
    /// expects. A text that is none stays one, and `read` says what is wrong with it.
    let fromText: @Sendable (String) -> JSONValue

    init(
        _ typeName: String,
        fromText: @escaping @Sendable (String) -> JSONValue = { .text($0) },
        write: @escaping @Sendable (Value) -> JSONValue,
        read: @escaping @Sendable (JSONValue) throws(Refusal) -> Value
    ) {
        self.typeName = typeName
        self.fromText = fromText
        self.write = write
        self.read = read
    }

    /// The same, but `null` (in an environment variable also the empty text) stands for nothing.
    var orNull: Codec<Value?> {
        Codec<Value?>(
            typeName + " or null",
            fromText: { $0.isEmpty || $0 == "null" ? .null : fromText($0) },
            write: { $0.map(write) ?? .null },
            read: { (value) throws(Refusal) in value == .null ? nil : try read(value) })
    }

    /// The same, with one more condition.
    func allowing(
        _ condition: @escaping @Sendable (Value) -> Bool, orElse complaint: String
    ) -> Codec {
        Codec(
            typeName, fromText: fromText, write: write,
            read: { (value) throws(Refusal) in
                let result = try read(value)
                guard condition(result) else {
                    throw Refusal(message: "\(value.excerpt) \(complaint)")
                }
                return result
            })
    }

    /// A value that is written as a string.
    ///
    /// - Parameters:
    ///   - sample: An example for the message when the value is not a string. Nil: the message names the type.
    ///   - isSecret: Whether messages must not repeat the value. Default: false.
    static func text(
        _ typeName: String, sample: String? = nil, isSecret: Bool = false, write: @escaping @Sendable (Value) -> String,
        read: @escaping @Sendable (String) throws(Refusal) -> Value
    ) -> Codec {
        Codec(
            typeName, write: { .text(write($0)) },
            read: { (value) throws(Refusal) in
                guard case .text(let text) = value else {
                    let expected = sample.map { " such as \"\($0)\"" } ?? " (\(typeName))"
                    throw Refusal(message: "expected a string" + (isSecret ? "" : expected))
                }
                return try read(text)
            })
    }
}

/// Why a value cannot be what its key needs. The key adds the path.
struct Refusal: Error, Sendable, Hashable {
    /// Where below the key: `[2]`, `.Authorization`, or nothing.
    var place = ""
    /// What is wrong, without a full stop. Never repeats a secret.
    var message: String
}

extension JSONValue {
    /// The members of an object all of whose names are known.
    func members(among known: [String]) throws(Refusal) -> [String: JSONValue] {
        guard case .object(let members) = self else { throw Refusal(message: mismatch("an object")) }
        for name in members.keys.sorted() where !known.contains(name) {
            throw Refusal(place: "." + name, message: NearestName.complaint(name, known: known))
        }
        return members
    }
}

extension [String: JSONValue] {
    /// Reads one member; nil if the member is absent.
    func read<Member>(_ name: String, by codec: Codec<Member>) throws(Refusal) -> Member? {
        guard let member = self[name] else { return nil }
        do throws(Refusal) {
            return try codec.read(member)
        } catch {
            throw Refusal(place: "." + name + error.place, message: error.message)
        }
    }
}
