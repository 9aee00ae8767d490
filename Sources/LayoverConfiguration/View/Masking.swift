import LayoverCore

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
