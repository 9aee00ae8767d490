package import LayoverCore

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
    func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> EntryCommandResult {
        let (result, actions) = pending.patched(id, patch, revision: revision, now: clock.now())
        perform(actions)
        finishFact()
        return result
    }

    /// An entry, live or remembered, or a ticket that is still in the store. Its times are those of this boot.
    package func knownEntry(_ id: EntryID) async throws(StoreFailure) -> Entry? {
        if let entry = entry(id) { return entry }
        guard let record = try await store?.record(of: id)?.shifted(by: -ticketClock) else { return nil }
        // It may have been accepted meanwhile: the row comes before the entry.
        if let entry = entry(id) { return entry }
        guard record.state.isFinal else { return nil }
        return .ended(record, policy: routes.standing(of: record).policy)
    }
}
