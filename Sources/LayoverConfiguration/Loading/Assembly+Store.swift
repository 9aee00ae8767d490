import LayoverCore

extension Assembly {
    /// Warns of credential fields that `store.encryptFields` does not list: their values are stored unencrypted.
    ///
    /// A list replaces the whole default list. The default also encrypts the fields that routes set or add.
    mutating func warnOfPlainSecrets() {
        guard let listed = settings.store.listedFields else { return }
        let names = listed.map { $0.lowercased() }
        var plain = CredentialFields.sealedByDefault
        let known = Set(plain.map { $0.lowercased() })
        let written = Set(routes.values.flatMap { Array($0.setFields.keys) + Array($0.addFields.keys) }).sorted()
        // `Idempotency-Key` proves nothing.
        plain += written.filter { name in
            CredentialFields.mayBeOne(name) && !known.contains(name.lowercased()) && name.lowercased() != "idempotency-key"
        }
        plain = plain.filter { !names.contains($0.lowercased()) }
        guard !plain.isEmpty else { return }
        warnings.append(
            "store.encryptFields: does not list \(Self.list(plain)), so these credentials are stored "
                + "unencrypted.")
    }

    /// `A, B and C`.
    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
