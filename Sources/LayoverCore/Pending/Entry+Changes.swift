extension Entry {
    /// A request that joins the set.
    init(_ new: NewEntry, policy: SharedPolicy, sequence: Int, now: Timestamp) {
        let isTicket = new.ticket != nil
        // mutant: no-deadline
        let expiresAt = now + (isTicket ? new.policy.lifetime : min(new.policy.holdMax, new.policy.lifetime))
        var standing = RequestStanding(
            client: new.client, route: new.route, priority: new.priority ?? new.policy.priority, lane: new.lane,
            requestByteCount: new.requestByteCount, parkedAt: now, dueAt: now + new.parking.delay,
            expiresAt: new.unattendedFor.map { now + $0 } ?? expiresAt)
        standing.counts = new.tally.counts
        standing.resume = new.tally.resume
        standing.hasOwnPriority = new.priority != nil
        self.init(
            request: new.request, standing: standing, sharedPolicy: policy, automaticLeft: new.tally.automaticLeft,
            isBodyReplayable: new.tally.isBodyReplayable, ticket: new.ticket, sequence: sequence,
            waitEnd: new.parking.rule == .status ? .status : new.failure == nil || new.parking.shutsGate ? .origin : .time,
            owner: Self.owner(of: new))
        parentProxyGate = new.parentProxyGate
        if new.ticket == nil, new.wish != PolicyWish() { heldWish = new.wish }
        failed(new.failure, at: now)
        attempts.append(contentsOf: new.tally.records)
        noteSent(new.failure, new.tally.records)
        foldTarget()
    }

    private static func owner(of new: NewEntry) -> Owner {
        if new.ticket != nil { return .store }
        if new.unattendedFor != nil { return .nobody }
        return new.isRefresh ? .cache : .client(new.wantsTicket ? .ticket : .none)
    }

    /// Takes over how often it was tried, and what came of it.
    mutating func count(_ tally: AttemptTally) {
        counts = tally.counts
        attempts.append(contentsOf: tally.records)
        resume = tally.resume
    }

    /// More of the response has come, and it broke off once more: `holdMax` counts only while nothing moves.
    mutating func waitsAnew(at now: Timestamp) {
        responseMovedAt = now
        guard !hasOwnDeadline else { return }
        expiresAt = max(expiresAt, min(now + policy.holdMax, lifetimeEnd))
    }

    /// Takes note of whether a byte of it may have left.
    mutating func noteSent(_ failure: Failure?, _ records: [AttemptRecord]) {
        let evidence = [failure?.evidence] + records.map(\.evidence)
        if evidence.contains(where: { $0 != nil && $0 != .neverSent }) { isNeverSent = false }
    }

    mutating func failed(_ failure: Failure?, at now: Timestamp) {
        guard let failure else { return }
        lastFailure = failure
        lastFailureAt = now
    }

    /// The evidence of its attempt came after the attempt had ended.
    mutating func addLateEvidence(_ failure: Failure?, _ tally: AttemptTally, at now: Timestamp) {
        revision += 1
        if tally.counts.all >= counts.all { counts = tally.counts }
        if failure?.evidence == .maybeApplied { counts.mayHaveBeenApplied = true }
        attempts.append(contentsOf: tally.records)
        failed(failure, at: now)
    }

    /// A reload gives the entry its route and policy. The wish of the request itself stays, and so does the order of a person.
    mutating func reroute(_ newRoute: String?, _ policy: SharedPolicy, automaticLeft left: Int?) {
        route = newRoute
        if !hasOwnPriority { priority = policy.policy.priority }
        sharedPolicy = policy
        automaticLeft = left
        let rules = policy.policy
        let isStored = if case .store = owner { true } else { false }
        let lifeEnd = parkedAt + rules.lifetime
        let end = hasOwnDeadline ? expiresAt : isStored ? lifeEnd : min((responseMovedAt ?? parkedAt) + rules.holdMax, lifeEnd)
        // A reload does not shorten the life that was promised when a ticket was accepted.
        expiresAt = isStored ? max(end, expiresAt) : end
    }

    /// Its attempt is under way now, or has been for longer.
    mutating func noteAttempt(at now: Timestamp) {
        changeAttempt { $0.startedAt = $0.startedAt ?? now }
    }

    /// Changes the attempt under way, if there is one.
    mutating func changeAttempt(_ work: (inout Attempt) -> Void) {
        guard case .attempting(var attempt) = fullState else { return }
        work(&attempt)
        fullState = .attempting(attempt)
    }

    /// Comes to its end.
    mutating func end(as state: EntryState, at now: Timestamp) {
        revision += 1
        fullState = .ended(state)
        endedAt = now
        outlook = nil
    }

    /// Changes it in place.
    mutating func amend(_ work: (inout Entry) -> Void) { work(&self) }
}
