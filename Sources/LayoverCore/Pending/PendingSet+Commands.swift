/// What people ask for.
extension PendingSet {
    /// What came of a command.
    package enum CommandResult: String, Sendable, Hashable {
        case done
        /// No such entry.
        case unknown
        /// The entry's state does not allow it.
        case conflict
        /// The entry has changed since the caller saw it.
        case stale
        /// The risk of `force` was not acknowledged.
        case unacknowledged
    }

    private func missing(_ id: EntryID) -> CommandResult { schedule.history[id] == nil ? .unknown : .conflict }

    /// A person steers one entry.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - acknowledgement: `EntryCommand.duplicateRisk` for `force`; others need none.
    package mutating func commanded(
        _ command: EntryCommand, _ id: EntryID, revision: Int? = nil, reason: String? = nil,
        acknowledgement: String? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        guard entry.actions.contains(command) else { return (.conflict, []) }
        // mutant: no-acknowledgement
        if command == .force, acknowledgement != EntryCommand.duplicateRisk { return (.unacknowledged, []) }
        let actions = gather(now: now) { set in
            switch command {
            case .retry: set.retry(entry, isForced: entry.isForced, now: now)
            case .force: set.retry(entry, isForced: true, now: now)
            // Final at once, an attempt in flight included: the loop aborts it.
            case .cancel: set.schedule.end(id, as: .cancelled, .cancelled(reason: reason), now: now)
            case .hold:
                set.schedule.entries[id]?.isHeldBack = true
                set.schedule.transition(id, to: .held, now: now)
            case .release:
                set.schedule.entries[id]?.isHeldBack = false
                set.schedule.transition(id, to: .waiting(.due), now: now)
                set.schedule.place(id, now: now)
                set.schedule.toDispatch.insert(entry.origin)
            }
        }
        return (.done, actions)
    }

    private mutating func retry(_ entry: Entry, isForced: Bool, now: Timestamp) {
        let id = entry.id
        if entry.why == .parentFailed || entry.why == .maybeApplied, let parents = entry.ticket?.parents, !parents.isEmpty {
            schedule.dependencies.excuse(parents, of: id)
        }
        schedule.entries[id]?.isForced = isForced
        schedule.giveGrantBack(id, wasMade: false)
        schedule.transition(id, to: .waiting(.due), now: now)
        schedule.makeEligible(id, by: .admin)
        schedule.origins[entry.origin].gate.mayBeReachable(now: now)
        schedule.toDispatch.insert(entry.origin)
    }

    /// A person steers several entries, in the order given.
    ///
    /// Those that cancelled ones make room for start when all of them are gone: otherwise each would start the
    /// next, only to have it cut off.
    package mutating func commanded(
        _ command: EntryCommand, each ids: some Collection<EntryID>, reason: String? = nil, now: Timestamp
    ) -> ([CommandResult], [PendingAction]) {
        guard command == .cancel else {
            let done = ids.map { commanded(command, $0, reason: reason, now: now) }
            return (done.map(\.0), done.flatMap(\.1))
        }
        var results: [CommandResult] = []
        let actions = gather(now: now) { set in
            for id in ids {
                let isLive = set.isLive(id)
                results.append(isLive ? .done : set.missing(id))
                if isLive { set.schedule.end(id, as: .cancelled, .cancelled(reason: reason), now: now) }
            }
        }
        return (results, actions)
    }

    /// A person retries or gives up everything that waits in an incident.
    package mutating func commanded(
        _ command: EntryCommand, incident id: IncidentID, reason: String? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let incident = schedule.incidents[id] else { return (.unknown, []) }
        guard command == .retry || command == .cancel else { return (.conflict, []) }
        let members = incident.members.sorted(by: schedule.isBefore)
        return (.done, commanded(command, each: members, reason: reason, now: now).1)
    }

    /// Changes the priority, the deadline or the lane of an entry. What is not named stays.
    ///
    /// In its new lane it takes the place that its age gives it. While its attempt is under way it cannot change lanes:
    /// that is a conflict. A deadline in the past ends it at once, but for an attempt in flight.
    ///
    /// - Parameters:
    ///   - revision: The revision the caller saw; nil when any will do.
    ///   - priority: 0 (first) to 7 (last); any other number is a conflict.
    ///   - expiresAt: From now on no policy moves it.
    ///   - lane: Nil inside: it leaves its lane and keeps no order any more.
    package mutating func patched(
        _ id: EntryID, revision: Int? = nil, priority: Int? = nil, expiresAt: Timestamp? = nil,
        lane: String?? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let entry = entries[id] else { return (missing(id), []) }
        if let revision, revision != entry.revision { return (.stale, []) }
        if let priority, !(0...7).contains(priority) { return (.conflict, []) }
        let movesLane = lane.map { $0 != entry.lane } ?? false
        if movesLane, entry.state == .attempting { return (.conflict, []) }
        let actions = gather(now: now) { set in
            set.schedule.change(id) { entry in
                if let priority {
                    entry.priority = priority
                    entry.hasOwnPriority = true
                }
                if let expiresAt {
                    entry.expiresAt = expiresAt
                    entry.hasOwnDeadline = true
                }
            }
            if let lane, movesLane { set.move(entry, to: lane, now: now) }
            // Its place among those that may go is another one now.
            if priority != nil, let trigger = set.entries[id]?.eligibleBy, trigger != .admin {
                set.schedule.makeEligibleAgain(id, by: trigger)
            }
            set.schedule.touchIncident(entry.incident, now: now)
            set.schedule.toDispatch.insert(entry.origin)
            guard expiresAt != nil else { return }
            set.schedule.watchDeadlines(id, now: now)
            set.schedule.expire(id, now: now)
        }
        return (.done, actions)
    }

    private mutating func move(_ entry: Entry, to lane: String?, now: Timestamp) {
        let id = entry.id
        schedule.entries[id]?.lane = lane
        schedule.puts.moved(entry)
        schedule.leaveLane(id, entry.lane, now: now)
        if let lane {
            schedule.lanes.join(id, lane, sequence: entry.sequence)
            schedule.laneChanged(lane, now: now)
            if entry.method != "PUT" {
                let last = schedule.lanes.states[lane]?.lastOtherSequence ?? 0
                schedule.lanes.noteOther(lane, sequence: max(last, entry.sequence))
            }
        }
        guard let moved = entries[id], moved.state == .waiting else { return }
        if schedule.blocker(of: moved) == nil {
            schedule.unblock(id, now: now)
        } else {
            schedule.block(id, isAskedFor: moved.eligibleBy == .admin)
        }
    }
}
