extension Assembly {
    /// A list replaces the default one as a whole, which is easily forgotten.
    mutating func warnOfPlainSecrets() {
        let path = ["store", "encryptFields"]
        guard given[KeyAddress(section: .global, key: path)] != nil else { return }
        let names = settings.store.encryptFields.map { $0.lowercased() }
        let plain = StoreSettings().encryptFields.filter { !names.contains($0.lowercased()) }
        guard !plain.isEmpty else { return }
        warnings.append(
            "\(path.joined(separator: ".")): does not list \(plain.joined(separator: " and ")), so these credentials are stored "
                + "unencrypted.")
    }
}
