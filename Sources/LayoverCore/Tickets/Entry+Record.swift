extension Entry {
    /// What an earlier run kept.
    init(_ record: TicketRecord, policy: SharedPolicy) {
        self.init(
            id: record.id, revision: record.revision, state: record.state, why: record.why,
            method: record.method, url: record.url, origin: record.origin, route: record.route,
            sharedPolicy: policy, client: record.client, attemptCount: record.counts.all,
            automaticLeft: policy.policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) },
            createdAt: record.createdAt, parkedAt: record.parkedAt, expiresAt: record.expiresAt,
            lastFailure: record.lastFailure, lastFailureAt: record.lastFailureAt,
            requestByteCount: record.requestByteCount, isBodyReplayable: true, isExposed: record.isExposed,
            priority: record.priority, lane: record.lane, ticket: TicketFacts(record),
            sequence: record.sequence, dueAt: record.dueAt,
            waitsForOrigin: record.lastFailure?.shutsGate ?? false, isHeldByClient: false)
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

extension PendingSet {
    /// What is to be kept of a ticket as it stands now, live or remembered; nil if it is none.
    package func record(of id: EntryID) -> TicketRecord? {
        guard let entry = entries[id] ?? history[id], let ticket = entry.ticket else { return nil }
        var record = TicketRecord(entry, ticket)
        record.decisions.excusedParents = excusedParents[id] ?? []
        return record
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
        self.init(
            id: new.id, sequence: sequence, state: .waiting, method: new.method, url: new.url,
            origin: new.origin, route: new.route, wish: ticket.wish, policy: new.policy.name,
            priority: new.priority ?? new.policy.priority, lane: new.lane, parents: ticket.parents,
            client: new.client, counts: ticket.counts, isRepeatable: new.isRepeatable,
            hasIdempotencyKey: new.hasIdempotencyKey, isExposed: new.isExposed,
            requestByteCount: new.requestByteCount, createdAt: new.createdAt, parkedAt: now, dueAt: now,
            expiresAt: now + new.policy.lifetime, notAfter: ticket.notAfter,
            preconditions: ticket.preconditions)
        decisions.hasOwnPriority = new.priority != nil
    }
}
