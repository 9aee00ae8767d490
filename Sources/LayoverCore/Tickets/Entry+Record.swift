extension Entry {
    /// The entry of a ticket that an earlier run kept.
    init(_ record: TicketRecord, policy: SharedPolicy) {
        self.init(
            request: record.request, standing: record.standing, fullState: State(record), sharedPolicy: policy,
            automaticLeft: policy.policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) },
            isBodyReplayable: true, ticket: record.ticket, sequence: record.sequence,
            waitEnd: record.lastFailure?.shutsGate == true ? .origin : .time, owner: .store)
        isNeverSent = !record.mayHaveBeenApplied && (record.lastFailure?.evidence ?? .neverSent) == .neverSent
        foldTarget()
    }

    /// The same with the whole URL, which its record has.
    package func withURL(of record: TicketRecord) -> Entry {
        var entry = self
        entry.request.url = record.url
        entry.request.isURLInStore = false
        return entry
    }

    /// A ticket that ended so long ago, or in an earlier run, that only its record is left.
    ///
    /// - Parameter policy: The one that it would have now.
    package static func ended(_ record: TicketRecord, policy: Policy) -> Entry {
        Entry(record, policy: SharedPolicy(policy))
    }
}

extension Entry.State {
    fileprivate init(_ record: TicketRecord) {
        switch record.state {
        case .waiting: self = .waiting(.due)
        case .attempting: self = .attempting(.init())
        case .held: self = .held
        case .undecided: self = .undecided(record.why ?? .maybeApplied)
        case .delivered, .cancelled, .expired, .failed: self = .ended(record.state)
        }
    }
}

extension TicketRecord {
    init(_ entry: Entry, _ ticket: TicketFacts) {
        self.init(
            entry.request, entry.standing, ticket, sequence: entry.sequence, state: entry.state, why: entry.why,
            policy: entry.policy.name, isRepeatable: entry.isRepeatable)
        isAskedFor = entry.isAttemptAskedFor
    }

    /// The record of a ticket that is about to be accepted.
    package init(_ new: NewEntry, _ ticket: TicketFacts, sequence: Int, now: Timestamp) {
        var new = new
        new.ticket = ticket
        self.init(Entry(new, policy: SharedPolicy(new.policy), sequence: sequence, now: now), ticket)
    }
}
