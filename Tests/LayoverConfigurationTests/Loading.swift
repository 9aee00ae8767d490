import Foundation

@testable import LayoverConfiguration

/// The checkout, with its documentation.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// Loads a text as the file `config.json` of the current folder.
func load(
    _ text: String, environment: [String: String] = [:], overrides: [String: String] = [:],
    named name: String = "config.json"
) throws -> LoadedConfiguration {
    try ConfigurationLoader.load(
        text: Array(text.utf8), named: name, environment: environment, overrides: overrides)
}

/// The lines that a text is refused with; none when it is accepted.
func complaints(
    _ text: String, environment: [String: String] = [:], overrides: [String: String] = [:]
) -> [String] {
    do {
        _ = try ConfigurationLoader.load(
            text: Array(text.utf8), named: "config.json", environment: environment, overrides: overrides)
        return []
    } catch {
        return error.errors.map(\.description)
    }
}

extension LoadedConfiguration {
    /// All values as one object, as a file would spell them; secrets are masked.
    var masked: JSONValue {
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
