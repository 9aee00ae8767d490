/// What people ask for.
extension PendingSet {
    private func missing(_ id: EntryID) -> EntryCommandResult { schedule.history[id] == nil ? .unknown : .conflict }

    /// A person steers one entry.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - acknowledgement: `EntryCommand.duplicateRisk` for `force`; others need none.
    ///   - outcome: What is known of the outcome, for `settle`.
    package mutating func commanded(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, by author: CommandAuthor = .loopback,
        reason: String? = nil, acknowledgement: String? = nil, outcome: Settlement.Outcome = .init(), now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard entry.actions.contains(command) else { return (.conflict, []) }
        // mutant: no-acknowledgement
        if command == .force, acknowledgement != EntryCommand.duplicateRisk { return (.unacknowledged, []) }
        let actions = gather(now: now) {
            command.apply(to: entry, by: author, reason: reason, outcome: outcome, &$0.schedule, now: now)
        }
        return (.done, actions)
    }

    /// A person steers several entries, in the order given.
    ///
    /// Several entries are cancelled as one fact. Otherwise each cancelled entry would make room for the next one of the list, whose
    /// attempt would start only to be cut off.
    package mutating func commanded(
        _ command: EntryCommand, each ids: some Collection<EntryID>, by author: CommandAuthor = .loopback, reason: String? = nil,
        now: Timestamp
    ) -> ([EntryCommandResult], [PendingAction]) {
        guard command == .cancel else {
            let done = ids.map { commanded(command, $0, by: author, reason: reason, now: now) }
            return (done.map(\.0), done.flatMap(\.1))
        }
        var results: [EntryCommandResult] = []
        let actions = gather(now: now) { set in
            for id in ids {
                let entry = set.entries[id]
                results.append(entry == nil ? set.missing(id) : .done)
                if let entry { command.apply(to: entry, by: author, reason: reason, &set.schedule, now: now) }
            }
        }
        return (results, actions)
    }

    /// A person retries or gives up everything that waits in an incident.
    package mutating func commanded(
        _ command: EntryCommand, incident id: IncidentID, by author: CommandAuthor = .loopback, reason: String? = nil,
        now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let incident = schedule.incidents[id] else { return (.unknown, []) }
        guard schedule.view(of: incident, now: now).actions.contains(command) else { return (.conflict, []) }
        let members = schedule.members(of: id)
        return (.done, commanded(command, each: members, by: author, reason: reason, now: now).1)
    }

    /// A person changes the priority, the deadline or the lane of an entry.
    ///
    /// - Parameter revision: The revision the caller saw; nil when any will do.
    package mutating func patched(
        _ id: EntryID, _ patch: EntryPatch, revision: Int? = nil, now: Timestamp
    ) -> (EntryCommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard patch.fits(entry) else { return (.conflict, []) }
        return (.done, gather(now: now) { patch.apply(to: entry, &$0.schedule, now: now) })
    }
}
