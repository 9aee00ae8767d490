/// The incident in which an entry waits.
struct IncidentMembership {
    let id: EntryID
    let now: Timestamp

    /// Changes of an incident are gathered this long before they are reported, so that an outage of ten thousand
    /// requests is not ten thousand times ten thousand reports. Default: 250 ms.
    private static let gathering: Duration = .milliseconds(250)

    // MARK: Joining and leaving

    /// The entry has another state. What waits for a person waits in no outage; but one that is out of attempts was left without them by
    /// its outage, and stays.
    func change(to state: Entry.State, from before: Entry, _ schedule: inout Schedule) {
        var asks = false
        if case .undecided(let why) = state { asks = why != .exhausted }
        if asks || before.why.map({ $0 != .exhausted }) == true { leave(&schedule) }
        if asks { join(.decision, &schedule) }
    }

    /// - Parameter since: When its outage began, where that is known to have been before now.
    func join(_ kind: Incident.Kind, since: Timestamp? = nil, _ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.incident == nil else { return }
        join(entry, kind, since: since, &schedule)
    }

    private func join(_ entry: Entry, _ kind: Incident.Kind, since: Timestamp? = nil, _ schedule: inout Schedule) {
        let incident = incident(for: entry, kind, since: since, &schedule)
        schedule.entries[id]?.incident = incident
        if entry.state == .waiting { schedule.noteWait(of: entry, in: incident, isBlocked: entry.isBlocked) }
    }

    /// A ticket of an earlier run that is about to join the set joins its outage of then, or that of what it waits for now.
    ///
    /// - Parameter since: When its outage of then began; nil if it waited in none.
    func joinOutage(_ entry: inout Entry, since: Timestamp?, _ schedule: inout Schedule) {
        guard since != nil || schedule.waitsForWhatIsAway(entry) else { return }
        entry.incident = incident(for: entry, .outage, since: since, &schedule)
    }

    private func incident(for entry: Entry, _ kind: Incident.Kind, since: Timestamp?, _ schedule: inout Schedule) -> IncidentID {
        let topic = Incidents.Topic(kind: kind, scope: scope(of: entry, kind, schedule))
        let incident = schedule.incidents.join(id, entry.lastFailure, topic, since: since, now: now)
        if schedule.incidents.hasManyThatLeft(incident) {
            schedule.incidents.dropThoseThatLeft(incident, isMember: schedule.entries.isMember)
        }
        touch(incident, &schedule)
        return incident
    }

    /// Entries that wait for what is away join its incident, a portion at the end of each fact.
    static func joinStrays(_ schedule: inout Schedule, now: Timestamp) {
        guard !schedule.strays.isEmpty else { return }
        for id in schedule.strays.takePortion() {
            guard let entry = schedule.entries[id], entry.incident == nil, schedule.waitsForWhatIsAway(entry) else { continue }
            IncidentMembership(id: id, now: now).join(entry, .outage, &schedule)
        }
        if schedule.strays.isEmpty {
            schedule.strays.isAfterRestart = false
        } else {
            schedule.timers.add(.strays, at: now)
        }
    }

    private func scope(of entry: Entry, _ kind: Incident.Kind, _ schedule: Schedule) -> Incident.Scope {
        if kind == .outage, schedule.mode == .offline || schedule.isNetworkAway { return .network }
        let isOfParentProxy = entry.lastFailure.map { $0.kind == .parentProxyUnreachable } ?? true
        guard kind == .outage, isOfParentProxy, let gate = entry.parentProxyGate, schedule.origins.isShut(gate) || entry.lastFailure != nil
        else { return .origin(entry.origin) }
        return .parentProxy(gate)
    }

    /// It waits for its parent proxy no more.
    func leaveParentProxyOutage(_ schedule: inout Schedule) {
        guard let incident = schedule.entries[id]?.incident, case .parentProxy? = schedule.incidents[incident]?.scope else { return }
        leave(&schedule)
    }

    /// It goes by another parent proxy, or by none: it waits in the outage of that one, if it has one. What is out of attempts stays in
    /// the outage that left it without them.
    func changeParentProxy(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.state != .undecided else { return }
        leaveParentProxyOutage(&schedule)
        guard entry.lastFailure?.kind == .parentProxyUnreachable, let gate = entry.parentProxyGate, schedule.origins.isShut(gate)
        else { return }
        join(.outage, &schedule)
    }

    /// An attempt has failed.
    func join(after parking: Verdict.Parking, _ schedule: inout Schedule) {
        // Nothing is away where the work may have been done: that is a question, not an outage.
        if parking.asks == .maybeApplied { return leave(&schedule) }
        join(.outage, &schedule)
        touch(&schedule)
    }

    func leave(_ schedule: inout Schedule) {
        leave(schedule.entries[id]?.incident, &schedule)
        schedule.entries[id]?.incident = nil
    }

    /// The entry may have left the set.
    func leave(_ incident: IncidentID?, _ schedule: inout Schedule) {
        guard let incident else { return }
        if let closed = schedule.incidents.leave(incident) {
            schedule.actions.append(.incident(.closed, schedule.view(of: closed, now: now)))
        }
        touch(incident, &schedule)
    }

    // MARK: Reports

    /// Has the changes of the incident reported soon.
    func touch(_ schedule: inout Schedule) { touch(schedule.entries[id]?.incident, &schedule) }

    private func touch(_ incident: IncidentID?, _ schedule: inout Schedule) {
        guard let incident, schedule.incidents.touch(incident) else { return }
        schedule.timers.add(.incident(incident), at: now + Self.gathering)
    }

    // MARK: Out of attempts

    /// The entry has used up its attempts and asks. The others of its rule that wait for the same origin ask with it.
    func exhausted(_ schedule: inout Schedule) {
        guard let incident = schedule.entries[id]?.incident, schedule.incidents.exhaust(incident) else { return }
        for member in schedule.members(of: incident) {
            IncidentMembership(id: member, now: now).askIfExhausted(&schedule)
        }
    }

    /// Makes a waiting member undecided if its incident is out of attempts.
    func askIfExhausted(_ schedule: inout Schedule) {
        guard let entry = schedule.entries[id], entry.state == .waiting, entry.waitEnd == .origin, entry.policy.onExhausted == .ask,
            !entry.isAttemptAskedFor, schedule.incidents.isExhausted(entry.incident)
        else { return }
        schedule.transition(id, to: .undecided(.exhausted), now: now)
    }
}
