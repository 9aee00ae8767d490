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
