package import LayoverCore

/// Many entries at once.
extension Engine {
    /// The newest entries that came to their end, in no order.
    package func rememberedEntries() -> [Entry] { Array(pending.rememberedEntries) }

    /// How many of these are live.
    package func liveCount(of ids: Set<EntryID>) -> Int { ids.count(where: pending.isLive) }

    /// Commands several entries, in the order given. Facts of the loops wait meanwhile, so callers with
    /// many entries pass them in portions.
    package func command(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) async -> [CommandOutcome] {
        let results = apply(command, each: ids, by: author, reason: reason)
        var outcomes: [CommandOutcome] = []
        outcomes.reserveCapacity(results.count)
        for (id, result) in zip(ids, results) { outcomes.append(await outcome(result, of: id, command)) }
        return outcomes
    }

    /// As `command`, without waiting for the disk.
    func apply(
        _ command: EntryCommand, each ids: some Collection<EntryID> & Sendable, by author: CommandAuthor = .loopback,
        reason: String?
    ) -> [EntryCommandResult] {
        let results = run { now in
            let (results, actions) = pending.commanded(command, each: ids, by: author, reason: reason, now: now)
            perform(actions)
            return results
        }
        totals.commandCounts[command, default: 0] += results.count { $0 == .done }
        return results
    }
}
