package import LayoverCore

extension Engine {
    /// Changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: What the caller saw (`If-Match`); nil when any will do.
    /// - Returns: The outcome, and the entry afterwards if there is one.
    package func patch(_ id: EntryID, _ patch: EntryPatch, revision: Int? = nil) async -> (CommandOutcome, Entry?) {
        let result = apply(patch, to: id, revision: revision)
        let outcome = await outcome(result, of: id)
        return (outcome, await wholeEntry(id))
    }

    /// Like `patch`, without waiting for the store.
    func apply(_ patch: EntryPatch, to id: EntryID, revision: Int? = nil) -> EntryCommandResult {
        run { now in
            let (result, actions) = pending.patched(id, patch, revision: revision, now: now)
            perform(actions)
            return result
        }
    }

    /// An entry, live or remembered, or a ticket that is still in the store. Its times are those of this boot.
    package func knownEntry(_ id: EntryID) async throws(StoreFailure) -> Entry? {
        if entry(id) != nil { return await wholeEntry(id) }
        guard let record = try await store?.record(of: id)?.shifted(by: -ticketClock) else { return nil }
        // It may have been accepted meanwhile: the row comes before the entry.
        if let entry = entry(id) { return entry }
        guard record.state.isFinal else { return nil }
        return .ended(record, policy: routes.standing(of: record).policy)
    }

    /// An entry, live or remembered, with its whole URL. Where the store has that one and cannot be read, it is cut, and an
    /// ellipsis says so.
    func wholeEntry(_ id: EntryID) async -> Entry? {
        let known = entry(id)
        guard let known, known.request.isURLInStore, let record = try? await store?.record(of: id) else { return known }
        return known.withURL(of: record)
    }
}
