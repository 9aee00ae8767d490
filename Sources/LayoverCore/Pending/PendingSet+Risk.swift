/// What may have been applied already, and must not act twice.
///
/// Whether a request may be sent twice is its own nature, or the word of its policy; and that word may be taken back by a
/// reload. Nothing that may have been applied goes on by itself then: RFC 9110 section 9.2.2 forbids it.
extension PendingSet {
    /// The configuration was read anew: what may not be sent twice any more stops where it is.
    ///
    /// A ticket asks a person, a request that a client holds does as its policy says. An attempt under way goes on: what
    /// follows it is decided by the policy as it is then.
    mutating func stopIfRisky(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.isRisky, entry.state != .attempting, entry.why != .maybeApplied
        else { return }
        if entry.ticket != nil || entry.policy.maybeAppliedRule() == .ask { return ask(id, .maybeApplied, now: now) }
        finish(id, as: .failed, now: now)
        actions.append(.end(id, .maybeApplied))
        announce(entry.origin)
        toDispatch.insert(entry.origin)
    }

    /// What becomes of a verdict that was given under a policy that is not in force any more.
    ///
    /// - Returns: Nil where the answer in hand is delivered after all.
    mutating func allowed(
        _ parking: Verdict.Parking, after failure: Failure, of id: EntryID, _ attemptCount: Int, now: Timestamp
    ) -> Verdict.Parking? {
        guard let entry = entries[id], parking.asks != .maybeApplied, entry.isRisky else { return parking }
        if failure.evidence == .answered {
            giveGrantBack(id, wasMade: true)
            deliverAnswer(id, .notRepeatable, attemptCount, now: now)
            return nil
        }
        let asking = Verdict.Parking(
            delay: .zero, shutsGate: parking.shutsGate, asks: .maybeApplied, rule: .onMaybeApplied)
        entries[id]?.attempts.amendLast(.park(asking))
        return asking
    }
}
