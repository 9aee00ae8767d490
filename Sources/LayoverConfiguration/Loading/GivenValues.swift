/// A value and who gave it.
struct Given: Sendable {
    var value: JSONValue
    var source: ValueSource
}

/// What all layers have said. A later layer replaces what an earlier one said about the same key.
struct GivenValues: Sendable {
    private(set) var values: [KeyAddress: Given] = [:]
    /// Names under `policies` and `routes`, and who named them first.
    private(set) var policyNames: [String: ValueSource] = [:]
    private(set) var routeNames: [String: ValueSource] = [:]
    var errors: [ConfigurationError] = []
    var warnings: [String] = []

    subscript(address: KeyAddress) -> Given? { values[address] }

    mutating func set(_ address: KeyAddress, to value: JSONValue, by source: ValueSource) {
        declare(address.section, by: source)
        values[address] = Given(value: value, source: source)
    }

    /// Notes that a policy or a route exists, even when nothing is said about it.
    mutating func declare(_ section: KeyAddress.Section, by source: ValueSource) {
        switch section {
        case .global: break
        case .policy(let name): policyNames[name] = policyNames[name] ?? source
        case .route(let name): routeNames[name] = routeNames[name] ?? source
        }
    }

    mutating func refuse(_ path: String, _ message: String, by source: ValueSource) {
        errors.append(ConfigurationError(source: source.description, path: path, message: message))
    }
}
