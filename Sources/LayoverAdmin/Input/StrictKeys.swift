/// Any key of a JSON object.
private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// The value of a key; nil if the key is absent. `null` is no value.
    func given<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

extension Decoder {
    /// Refuses unknown keys: a misspelt filter must not mean "all".
    func refuseKeys<Keys: CodingKey & CaseIterable>(otherThan keys: Keys.Type) throws {
        let known = Set(Keys.allCases.map(\.stringValue))
        let container = try container(keyedBy: AnyKey.self)
        guard let unknown = container.allKeys.first(where: { !known.contains($0.stringValue) }) else {
            return
        }
        throw DecodingError.dataCorruptedError(
            forKey: unknown, in: container,
            debugDescription: "unknown key. Known: \(known.sorted().joined(separator: ", ")).")
    }
}
