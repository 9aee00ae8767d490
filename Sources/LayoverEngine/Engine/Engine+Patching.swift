package import LayoverCore

/// What a person changes about an entry. What is nil stays.
package struct EntryPatch: Sendable, Hashable {
    /// 0 (first) to 7 (last).
    package var priority: Int?
    /// When its life ends; in the past: now.
    package var expiresAt: Timestamp?
    /// Nil inside: it leaves its lane.
    package var lane: String??

    package init(priority: Int? = nil, expiresAt: Timestamp? = nil, lane: String?? = nil) {
        self.priority = priority
        self.expiresAt = expiresAt
        self.lane = lane
    }
}

extension Engine {
    /// Changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: What the caller saw (`If-Match`); nil when any will do.
    /// - Returns: The outcome, and the entry afterwards if there is one.
    package func patch(_ id: EntryID, _ patch: EntryPatch, revision: Int? = nil) async -> (CommandOutcome, Entry?) {
        let result = apply(patch, to: id, revision: revision)
        let outcome = await outcome(result, of: id)
        return (outcome, pending.entry(id, now: clock.now()))
    }

    /// Like `patch`, without waiting for the store.
    func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> CommandResult {
        let (result, actions) = pending.patched(
            id, revision: revision, priority: patch.priority, expiresAt: patch.expiresAt, lane: patch.lane,
            now: clock.now())
        perform(actions)
        finishFact()
        return result
    }

    /// An entry, live or remembered, or a ticket that is still in the store. Its times are those of this boot.
    package func knownEntry(_ id: EntryID) async throws(StoreFailure) -> Entry? {
        if let entry = pending.entry(id, now: clock.now()) { return entry }
        guard let record = try await store?.record(of: id)?.shifted(by: -ticketClock) else { return nil }
        // It may have been accepted meanwhile: the row comes before the entry.
        if let entry = pending.entry(id, now: clock.now()) { return entry }
        guard record.state.isFinal else { return nil }
        return .ended(record, policy: routes.standing(of: record).policy)
    }
}
