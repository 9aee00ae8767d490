/// Incidents: who waits in which outage.
extension PendingSet {
    /// Changes of an incident are gathered this long before they are told, so that an outage of ten thousand
    /// requests is not ten thousand times ten thousand words. Default: 250 ms.
    static let incidentGathering: Duration = .milliseconds(250)

    // MARK: Views

    /// The open incidents, oldest first.
    package func incidents(now: Timestamp) -> [Incident] {
        incidentLines.values.map { view(of: $0, now: now) }
            .sorted { ($0.since, $0.id.description) < ($1.since, $1.id.description) }
    }

    /// How many incidents are open.
    package var incidentCount: Int { incidentLines.count }

    package func incident(_ id: IncidentID, now: Timestamp) -> Incident? {
        incidentLines[id].map { view(of: $0, now: now) }
    }

    private func view(of line: IncidentLine, now: Timestamp) -> Incident {
        var incident = Incident(
            id: line.id, scope: line.scope, since: line.since, cause: line.cause,
            waiting: line.members.count, automaticLeft: 0, nextAttemptAt: nil, manualOnly: true)
        // Who asks first asks for all of that rule, so the fewest that one of them has left is what is left.
        var leftBeforeAsking: Int?
        for id in line.members {
            guard let entry = entry(id, now: now), entry.state == .waiting || entry.state == .attempting
            else { continue }
            incident.manualOnly = false
            if let at = entry.nextAttemptAt { incident.nextAttemptAt = min(incident.nextAttemptAt ?? at, at) }
            if let left = entry.automaticLeft {
                if entry.policy.onExhausted == .ask {
                    leftBeforeAsking = min(leftBeforeAsking ?? left, left)
                } else {
                    incident.automaticLeft = incident.automaticLeft.map { max($0, left) }
                }
            } else {
                incident.automaticLeft = nil
            }
        }
        if let leftBeforeAsking {
            incident.automaticLeft = incident.automaticLeft.map { max($0, leftBeforeAsking) }
        }
        return incident
    }

    // MARK: Membership

    /// - Parameter since: When its outage began, where that is known to have been before now.
    mutating func joinIncident(
        _ id: EntryID, since: Timestamp? = nil, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = entries[id], entry.incident == nil else { return }
        let isNetwork = mode == .offline || isNetworkAway
        let scope: Incident.Scope = isNetwork ? .network : .origin(entry.origin)
        let incident = incidentByScope[scope] ?? IncidentID(using: &generator)
        if incidentLines[incident] == nil {
            incidentLines[incident] = IncidentLine(id: incident, scope: scope, since: since ?? now)
            incidentByScope[scope] = incident
        }
        if let since, let known = incidentLines[incident]?.since { incidentLines[incident]?.since = min(known, since) }
        incidentLines[incident]?.members.insert(id)
        entries[id]?.incident = incident
        noteCause(of: id)
        if incidentLines[incident]?.members.count == 1 {
            opened.append(incident)
        } else {
            touchIncident(incident, now: now)
        }
    }

    /// A ticket of an earlier run waits on in the outage in which it waited then.
    mutating func rejoinIncident(
        _ id: EntryID, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = entries[id] else { return }
        // Who was never tried asks because others of its outage did.
        let isOfOutage = entry.lastFailure?.shutsGate ?? (entry.why == .exhausted)
        switch entry.state {
        case .waiting where isOfOutage, .held where isOfOutage: break
        case .undecided where entry.why == .exhausted: break
        case .waiting, .held, .undecided, .attempting, .delivered, .cancelled, .expired, .failed: return
        }
        joinIncident(id, since: entry.outageBeganAt, now: now, using: &generator)
        guard let incident = entries[id]?.incident, entry.why == .exhausted, isOfOutage else { return }
        if entry.policy.onExhausted == .ask { incidentLines[incident]?.isExhausted = true }
    }

    /// The first failure of a member is the incident's cause.
    mutating func noteCause(of id: EntryID) {
        guard let entry = entries[id], let incident = entry.incident, let failure = entry.lastFailure
        else { return }
        let cause = incidentLines[incident]?.cause ?? Incident.Cause(kind: failure.kind, phase: failure.phase)
        incidentLines[incident]?.cause = cause
    }

    mutating func leaveIncident(_ id: EntryID, of incident: IncidentID?, now: Timestamp) {
        guard let incident, var line = incidentLines[incident], line.members.remove(id) != nil else { return }
        incidentLines[incident] = line
        guard line.members.isEmpty else { return touchIncident(incident, now: now) }
        incidentLines[incident] = nil
        incidentByScope[line.scope] = nil
        if let index = opened.firstIndex(of: incident) {
            // It ended within the fact that opened it: nobody has heard of it.
            opened.remove(at: index)
        } else {
            actions.append(.incident(.closed, view(of: line, now: now)))
        }
    }

    /// Has the incident's changes told, soon. One that opens now is told as it stands at the end of the fact.
    mutating func touchIncident(_ id: IncidentID?, now: Timestamp) {
        guard let id, let line = incidentLines[id], !line.isDirty, !opened.contains(id) else { return }
        incidentLines[id]?.isDirty = true
        timers.push(.incident(id), key: now + Self.incidentGathering)
    }

    mutating func tellIncident(_ id: IncidentID, now: Timestamp) {
        guard let line = incidentLines[id], line.isDirty else { return }
        incidentLines[id]?.isDirty = false
        actions.append(.incident(.updated, view(of: line, now: now)))
    }

    /// At the end of a fact, when its members stand as they will be seen.
    mutating func tellOpened(now: Timestamp) {
        for id in opened {
            if let line = incidentLines[id] { actions.append(.incident(.opened, view(of: line, now: now))) }
        }
        opened.removeAll()
    }

    // MARK: Out of attempts

    /// A member has used up its attempts and asks. The others of its rule that wait for the same way ask with
    /// it: three countdowns for an outage are enough, whoever made the attempts.
    mutating func incidentExhausted(_ id: IncidentID?, now: Timestamp) {
        guard let id, var line = incidentLines[id], !line.isExhausted else { return }
        line.isExhausted = true
        incidentLines[id] = line
        for member in line.members.sorted(by: isBefore) { askWithIncident(member, now: now) }
    }

    /// Makes a waiting member undecided if its incident is out of attempts.
    mutating func askWithIncident(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], entry.state == .waiting, entry.waitsForOrigin,
            entry.policy.onExhausted == .ask, entry.eligibleBy != .admin, !entry.isWanted,
            let incident = entry.incident, incidentLines[incident]?.isExhausted == true
        else { return }
        change(id) { entry in
            entry.state = .undecided
            entry.why = .exhausted
            entry.placement += 1
            entry.eligibleBy = nil
            entry.isBlocked = false
        }
        laneChanged(entry.lane, now: now)
    }

    // MARK: Commands

    /// A person retries or gives up everything that waits in an incident.
    package mutating func commanded(
        _ command: EntryCommand, incident id: IncidentID, reason: String? = nil, now: Timestamp
    ) -> (CommandResult, [PendingAction]) {
        guard let line = incidentLines[id] else { return (.unknown, []) }
        guard command == .retry || command == .cancel else { return (.conflict, []) }
        let members = line.members.compactMap { entries[$0] }.sorted { $0.sequence < $1.sequence }
        return (.done, commanded(command, each: members.map(\.id), reason: reason, now: now).1)
    }
}
