import LayoverCore

extension Assembly {
    /// `default` first: what other policies leave unsaid comes from it.
    mutating func assemblePolicies() {
        let standardName = Policy.standard.name
        let standard = policy(named: standardName, from: PolicySettings())
        policies[standardName] = standard
        for (name, source) in given.policyNames.sorted(by: { $0.key < $1.key }) where name != standardName {
            guard !Schema.laterPolicyNames.contains(name) else {
                refuse("\(Schema.policySection).\(name)", "not in this version", by: source)
                continue
            }
            policies[name] = policy(named: name, from: standard)
        }
    }

    private mutating func policy(named name: String, from base: PolicySettings) -> PolicySettings {
        var policy = base
        let errorCount = errors.count
        apply(Schema.policy, of: .policy(name), to: &policy)
        // What is already refused should not be refused once more for what follows from it.
        if errors.count == errorCount { checkDelay(policy.delay, of: name) }
        return policy
    }

    private mutating func checkDelay(_ delay: DelaySettings, of name: String) {
        func address(_ key: String) -> KeyAddress { KeyAddress(section: .policy(name), key: ["delay", key]) }
        for key in KeyNames.policy.members(of: ["delay"]) where !delay.meaningfulKeys.contains(key) {
            guard given[address(key)] != nil else { continue }
            refuse(address(key), "does not go with the type \"\(delay.type.rawValue)\"")
        }
        if delay.type == .constant, delay.every == nil {
            refuse(address("type"), "\"constant\" needs delay.every")
        }
        if delay.type == .schedule, delay.delays?.isEmpty ?? true {
            refuse(address("type"), "\"schedule\" needs at least one duration in delay.delays")
        }
        let saysBoth = given[address("initial")] != nil && given[address("max")] != nil
        if delay.type == .exponential, saysBoth, delay.initial > delay.max {
            refuse(address("initial"), "is longer than delay.max")
        }
    }
}
