extension Entry {
    /// What an earlier run kept.
    init(_ record: TicketRecord, policy: SharedPolicy) {
        self.init(
            id: record.id, revision: record.revision, fullState: State(record), method: record.method, url: record.url,
            origin: record.origin, route: record.route, sharedPolicy: policy, client: record.client,
            attemptCount: record.counts.all,
            automaticLeft: policy.policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) },
            createdAt: record.createdAt, parkedAt: record.parkedAt, expiresAt: record.expiresAt,
            lastFailure: record.lastFailure, lastFailureAt: record.lastFailureAt,
            requestByteCount: record.requestByteCount, isBodyReplayable: true, isExposed: record.isExposed,
            priority: record.priority, lane: record.lane, ticket: TicketFacts(record),
            sequence: record.sequence, dueAt: record.dueAt,
            waitEnd: record.lastFailure?.shutsGate == true ? .origin : .time, holder: .store)
        hasIdempotencyKey = record.hasIdempotencyKey
        mayHaveBeenApplied = record.counts.mayHaveBeenApplied
        attempts = record.attempts
        isHeldBack = record.isHeldBack
        isNeverSent = !record.counts.mayHaveBeenApplied && (record.lastFailure?.evidence ?? .neverSent) == .neverSent
        endedAt = record.endedAt
        supersededBy = record.supersededBy
        isForced = record.decisions.isForced
        hasOwnDeadline = record.decisions.hasOwnDeadline
        hasOwnPriority = record.decisions.hasOwnPriority
    }

    /// A ticket that ended so long ago, or in an earlier run, that only its record is left.
    ///
    /// - Parameter policy: The one that it would have now.
    package static func ended(_ record: TicketRecord, policy: Policy) -> Entry {
        Entry(record, policy: SharedPolicy(policy))
    }

    fileprivate var decisions: TicketDecisions {
        var decisions = TicketDecisions()
        decisions.isForced = isForced
        decisions.isAskedFor = isAttemptAskedFor
        decisions.hasOwnDeadline = hasOwnDeadline
        decisions.hasOwnPriority = hasOwnPriority
        return decisions
    }
}

extension TicketFacts {
    init(_ record: TicketRecord) {
        self.init(
            wish: record.wish, parents: record.parents, notAfter: record.notAfter,
            preconditions: record.preconditions)
        counts = record.counts
        status = record.status
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
            id: entry.id, sequence: entry.sequence, revision: entry.revision, state: entry.state,
            why: entry.why, method: entry.method, url: entry.url, origin: entry.origin,
            route: entry.route, wish: ticket.wish, policy: entry.policy.name, priority: entry.priority,
            lane: entry.lane, parents: ticket.parents, client: entry.client, counts: ticket.counts,
            isRepeatable: entry.isRepeatable, hasIdempotencyKey: entry.hasIdempotencyKey,
            isExposed: entry.isExposed, isHeldBack: entry.isHeldBack,
            requestByteCount: entry.requestByteCount, createdAt: entry.createdAt,
            parkedAt: entry.parkedAt, dueAt: entry.dueAt, expiresAt: entry.expiresAt,
            notAfter: ticket.notAfter, endedAt: entry.endedAt, lastFailure: entry.lastFailure,
            lastFailureAt: entry.lastFailureAt, attempts: entry.attempts, status: ticket.status,
            preconditions: ticket.preconditions, supersededBy: entry.supersededBy)
        decisions = entry.decisions
    }

    /// The record of a ticket that is about to be accepted.
    package init(_ new: NewEntry, _ ticket: TicketFacts, sequence: Int, now: Timestamp) {
        var new = new
        new.ticket = ticket
        self.init(Entry(new, policy: SharedPolicy(new.policy), sequence: sequence, now: now), ticket)
    }
}
