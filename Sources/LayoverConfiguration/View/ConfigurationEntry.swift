/// One key as `config show` shows it: secrets are masked.
package struct ConfigurationEntry: Sendable, Hashable {
    /// Dotted.
    package let path: String
    /// The value as a file would spell it; `"***"` stands for a secret.
    package let value: JSONValue
    package let source: ValueSource
    /// The parts of the path, since the name of a policy or a route may have dots of its own.
    let parts: [String]
}

extension LoadedConfiguration {
    /// All values as one object, as a file would spell them; secrets are masked.
    package var masked: JSONValue {
        entries.reduce(.object([:])) { $0.setting($1.value, at: $1.parts[...]) }
    }
}

extension JSONValue {
    fileprivate func setting(_ value: JSONValue, at path: ArraySlice<String>) -> JSONValue {
        guard let name = path.first else { return value }
        var members: [String: JSONValue] = [:]
        if case .object(let own) = self { members = own }
        members[name] = (members[name] ?? .object([:])).setting(value, at: path.dropFirst())
        return .object(members)
    }
}
