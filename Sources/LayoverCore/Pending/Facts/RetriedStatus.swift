/// A response whose status the policy retries.
struct RetriedStatus {
    let parking: Verdict.Parking
    let now: Timestamp

    /// What it means for its origin, and for the entry that got it: a pause where the origin said when to come back, else a retry that
    /// the budget pays for.
    ///
    /// - Returns: Why it must not be retried; nil if it may.
    func apply(to entry: inout Entry, _ set: inout PendingSet) -> Verdict.DeliverReason? {
        let wait = parking.retryAfter ?? .zero
        set.pause(entry.origin, for: entry.policy, wait, now: now)
        // Held back it goes only when a person says so, and that is free.
        guard parking.rule == .status, !entry.isHeldBack else { return nil }
        // Its client would be gone when the origin wants to be asked.
        if !entry.canWait(until: now + wait) { return .holdMax }
        set.toAnnounce.insert(entry.origin)
        guard let budget = entry.policy.budget else { return nil }
        if budget.whenSpent == .deliver {
            let payment = set.origins[entry.origin].pay(for: entry.policy)
            entry.grant = payment.grant
            return payment.isPaid ? nil : .budget
        }
        // It pays when it goes: what waits must not take what others could use.
        entry.owesBudget = wait == .zero
        if entry.owesBudget { set.origins[entry.origin].changePacing(of: entry.policy.name) { $0.openBudget(budget) } }
        return nil
    }
}
