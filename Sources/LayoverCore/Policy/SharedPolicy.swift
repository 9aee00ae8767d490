/// One policy for all the entries that are under it: there may be a million of them.
final class SharedPolicy: Sendable {
    let policy: Policy
    // Parts that are needed with each change of an entry: to copy a policy takes longer than the rest of it.
    let attemptsMax: Int?
    let asksWhenExhausted: Bool
    let wakesOnReachable: Bool

    init(_ policy: Policy) {
        self.policy = policy
        attemptsMax = policy.automaticAttemptsMax
        asksWhenExhausted = policy.onExhausted == .ask
        wakesOnReachable = policy.wakeOnReachable
    }
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
