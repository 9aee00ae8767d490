/// Hides secrets from those who may see the configuration.
enum Masking {
    static let mask = JSONValue.text("***")

    static func mask<Root>(_ value: JSONValue, as secrecy: Key<Root>.Secrecy) -> JSONValue {
        switch (secrecy, value) {
        case (.none, _), (_, .null): value
        case (.whole, .object(let members)): .object(members.mapValues { _ in mask })
        case (.whole, _): mask
        case (.credentialFields, .object(let fields)):
            .object(
                Dictionary(uniqueKeysWithValues: fields.map { ($0, FieldText.isCredential($0) ? mask : $1) }))
        case (.userinfo, .text(let url)): .text(withoutUserinfo(url))
        case (.credentialFields, _), (.userinfo, _): mask
        }
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
