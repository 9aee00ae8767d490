import LayoverCore
import LayoverText

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

extension Assembly {
    /// Every key with its value and its source.
    func entries() -> [ConfigurationEntry] {
        let standard = Policy.standard.name
        let policyNames = [standard] + policies.keys.filter { $0 != standard }.sorted()
        let ofPolicies = policyNames.flatMap { name in
            policies[name].map { policy in entries(ofPolicy: policy, named: name) } ?? []
        }
        let ofRoutes = routes.keys.sorted().flatMap { name in
            routes[name].map { entries(Schema.route, of: .route(name), from: $0) } ?? []
        }
        return entries(Schema.global, of: .global, from: settings) + ofPolicies + ofRoutes
    }

    /// Keys that mean nothing for the delay's type are left out: a file that had them would be
    /// refused.
    private func entries(ofPolicy policy: PolicySettings, named name: String) -> [ConfigurationEntry] {
        let keys = Schema.policy.filter { key in
            key.path.first != "delay" || policy.delay.meaningfulKeys.contains(key.path[1])
        }
        return entries(keys, of: .policy(name), from: policy)
    }

    private func entries<Root>(
        _ keys: [Key<Root>], of section: KeyAddress.Section, from root: Root
    ) -> [ConfigurationEntry] {
        keys.map { key in
            let address = KeyAddress(section: section, key: key.path)
            return ConfigurationEntry(
                path: address.path, value: Masking.mask(key.write(root), as: key.secrecy),
                source: source(of: address), parts: section.path + key.path)
        }
    }

    private func source(of address: KeyAddress) -> ValueSource {
        if let given = given[address] { return given.source }
        let standardName = Policy.standard.name
        let standard = KeyAddress(section: .policy(standardName), key: address.key)
        guard case .policy(let name) = address.section, name != standardName,
            Schema.builtInPolicies[name] == nil, given[standard] != nil
        else { return .standard }
        // Another type of delay has inherited nothing but starts from its own defaults.
        let isOtherDelay = policies[name]?.delay.type != policies[standardName]?.delay.type
        return address.key.first == "delay" && isOtherDelay ? .standard : .policy(standardName)
    }
}

/// Hides secrets from those who may see the configuration.
enum Masking {
    static let mask = JSONValue.text("***")

    static func mask<Root>(_ value: JSONValue, as secrecy: Key<Root>.Secrecy) -> JSONValue {
        switch (secrecy, value) {
        case (.none, _), (_, .null): value
        case (.whole, .object(let members)): .object(members.mapValues { _ in mask })
        case (.whole, _): mask
        case (.credentialFields, .object(let fields)): .object(withoutCredentials(fields))
        case (.fieldsOfResponse, .object(let answer)): .object(answer.mapValues(withoutCredentials))
        case (.fieldsOfResponse, _): value
        case (.urlCredentials, .text(let url)): .text(MaskedURL.text(withoutUserinfo(url)))
        case (.credentialFields, _), (.urlCredentials, _): mask
        }
    }

    private static func withoutCredentials(_ fields: [String: JSONValue]) -> [String: JSONValue] {
        fields.reduce(into: [:]) { $0[$1.key] = CredentialFields.mayBeOne($1.key) ? mask : $1.value }
    }

    private static func withoutCredentials(_ member: JSONValue) -> JSONValue {
        if case .object(let fields) = member { .object(withoutCredentials(fields)) } else { member }
    }

    /// Everything between the scheme and the last `@` of the authority becomes `***`.
    private static func withoutUserinfo(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url.contains("@") ? "***" : url }
        let rest = url[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return url[..<scheme.upperBound] + "***" + rest[at...]
    }
}
