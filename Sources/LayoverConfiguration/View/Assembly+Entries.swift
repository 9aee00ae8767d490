import LayoverCore

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
        let standard = KeyAddress.Section.policy(Policy.standard.name)
        guard case .policy = address.section, address.section != standard,
            given[KeyAddress(section: standard, key: address.key)] != nil
        else { return .standard }
        return .policy(Policy.standard.name)
    }
}
