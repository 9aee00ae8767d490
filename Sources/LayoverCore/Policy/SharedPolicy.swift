/// One policy for all the entries that are under it: there may be a million of them.
final class SharedPolicy: Sendable {
    let policy: Policy

    init(_ policy: Policy) { self.policy = policy }
}

/// The policies in use, each once.
struct SharedPolicies: Sendable {
    /// By name; under one name the newest.
    private var known: [String: SharedPolicy] = [:]

    mutating func shared(_ policy: Policy) -> SharedPolicy {
        if let one = known[policy.name], one.policy == policy { return one }
        let one = SharedPolicy(policy)
        known[policy.name] = one
        return one
    }
}
