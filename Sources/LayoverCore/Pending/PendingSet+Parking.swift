import Retry

extension PendingSet {
    /// An exchange asks to join: its attempt failed, or its loop knows the gate to be shut.
    package mutating func parked(
        _ new: NewEntry, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.admits(new) else { return }
            set.sequence += 1
            set.join(new, sequence: set.sequence, now: now)
            set.joinIncident(new.id, of: new.parking, now: now, using: &generator)
            if new.parking.asks == nil {
                set.coalesce(new.id, preconditions: new.preconditions, now: now)
            } else {
                set.noteForCoalescing(new.id, preconditions: new.preconditions)
            }
            if let failure = new.failure {
                set.learn(
                    from: failure, shutsGate: new.parking.shutsGate, policy: new.policy, origin: new.origin,
                    isFromCanary: false, now: now, using: &generator)
                set.settle(new.id, by: new.parking, now: now)
            } else {
                set.admitFresh(new.id, now: now)
            }
            set.announce(new.origin)
            set.dispatch(new.origin, now: now)
        }
    }

    private mutating func admits(_ new: NewEntry) -> Bool {
        if isDraining {
            actions.append(.end(new.id, .draining))
        // mutant: over-the-limit
        } else if entries.count + acceptingCount >= limits.entryCountMax {
            actions.append(.refuse(new.id, limit: "limits.entries", value: limits.entryCountMax))
        } else if heldCount >= limits.heldClientCountMax {
            actions.append(
                .refuse(new.id, limit: "limits.heldClients", value: limits.heldClientCountMax))
        } else {
            return entries[new.id] == nil && paysForStatus(new)
        }
        return false
    }

    private mutating func paysForStatus(_ new: NewEntry) -> Bool {
        guard new.parking.rule == .status else { return true }
        let hold = min(new.policy.holdMax, new.policy.lifetime)
        guard new.ticket != nil || new.wantsTicket || new.parking.retryAfter ?? .zero <= hold else {
            actions.append(.deliverAnswer(new.id, .holdMax))
            return false
        }
        let (isPaid, grant) = pay(for: new.policy, to: new.origin)
        if isPaid {
            newGrant = grant
        } else {
            actions.append(.deliverAnswer(new.id, .budget))
        }
        return isPaid
    }

    private mutating func pay(
        for policy: Policy, to origin: Origin
    ) -> (isPaid: Bool, grant: RetryBudget.Grant?) {
        var result: (isPaid: Bool, grant: RetryBudget.Grant?) = (true, nil)
        line(of: origin) { result = $0.pay(for: policy) }
        if !result.isPaid { announce(origin) }
        return result
    }

    /// - Returns: False if a ticket that it depends on was not delivered.
    @discardableResult
    mutating func join(_ new: NewEntry, sequence: Int, now: Timestamp) -> Bool {
        let isTicket = new.ticket != nil
        // mutant: no-deadline
        let expiresAt = now + (isTicket ? new.policy.lifetime : min(new.policy.holdMax, new.policy.lifetime))
        entries[new.id] = Entry(
            id: new.id, method: new.method, url: new.url, origin: new.origin, route: new.route,
            sharedPolicy: policies.shared(new.policy), client: new.client, attemptCount: new.attemptCount,
            automaticLeft: new.automaticLeft, createdAt: new.createdAt, parkedAt: now,
            expiresAt: expiresAt, lastFailure: new.failure,
            lastFailureAt: new.failure == nil ? nil : now, requestByteCount: new.requestByteCount,
            isBodyReplayable: new.isBodyReplayable, isExposed: new.isExposed,
            priority: new.priority ?? new.policy.priority, lane: new.lane, ticket: new.ticket,
            sequence: sequence,
            dueAt: now + new.parking.delay,
            waitsForOrigin: new.failure == nil || new.parking.shutsGate,
            waitsForStatus: new.parking.rule == .status, isHeldByClient: !isTicket,
            ticketWish: new.wantsTicket ? .ticket : .none)
        entries[new.id]?.attempts.append(contentsOf: new.attempts)
        entries[new.id]?.hasIdempotencyKey = new.hasIdempotencyKey
        entries[new.id]?.hasOwnPriority = new.priority != nil
        entries[new.id]?.mayHaveBeenApplied = new.mayHaveBeenApplied || new.ticket?.counts.mayHaveBeenApplied ?? false
        entries[new.id]?.grant = newGrant
        newGrant = nil
        if !isTicket { heldCount += 1 }
        line(of: new.origin) { $0.entryCount += 1 }
        watchDeadlines(new.id, now: now)
        actions.append(.report(.parked, new.id))
        let isDependable = joinParents(new.id)
        joinLane(new.id, now: now)
        noteSent(new.id, new.failure, new.attempts)
        if new.failure?.evidence == .answered { actions.append(.dropAnswer(new.id)) }
        return isDependable
    }

    /// A request that could not even try: the canary if nobody else tests the way, and not behind the
    /// backlog if the gate is open after all.
    mutating func admitFresh(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], let line = lines[entry.origin] else { return }
        if blocker(of: entry) != nil {
            block(id, askedFor: false)
        } else if isDraining || !entry.hasGoodCredentials(at: now) {
            // One that was on its way to the disk when the proxy began to stop: it goes after the next start.
            place(id, now: now)
        } else if mode != .offline, !line.gate.isShut {
            // Nobody waits for the answer to a ticket, so it takes its turn like a replay.
            if entry.ticket == nil { start(id, trigger: .arrival, now: now) } else { makeEligible(id, by: .arrival) }
        } else if mode != .offline, line.underWay == 0, !isKeptFromStore(entry) {
            // Whatever its delay, and a captive portal or not: it is a first attempt.
            start(id, trigger: .canary, now: now)
        } else {
            entries[id]?.dueAt = line.gate.canaryAt ?? now
            place(id, now: now)
        }
    }

    /// The attempt of an entry failed and is worth another.
    package mutating func attemptFailed(
        _ id: EntryID, failure: Failure, parking: Verdict.Parking, attemptCount: Int,
        automaticLeft: Int?, isBodyReplayable: Bool, records: [AttemptRecord] = [], now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.entries[id]?.attempts.append(contentsOf: records)
            set.noteSent(id, failure, records)
            set.entries[id]?.automaticLeft = automaticLeft
            // The word of a person is for one attempt, but for one that the store did not let begin.
            if parking.rule != .store || failure.evidence != .neverSent { set.entries[id]?.isForced = false }
            guard let parking = set.allowed(parking, after: failure, of: id, attemptCount, now: now) else { return }
            guard set.paysForStatus(id, parking, failure, attemptCount, now: now) else { return }
            set.line(of: entry.origin) { $0.stopped(isBig: entry.isBig) }
            let startsAnew = entry.isAbandoned && failure.evidence == .neverSent
            // One that was cut off by us, or by our store, says nothing about its origin.
            let isOurs = startsAnew || parking.rule == .store && failure.evidence == .neverSent
            if !isOurs {
                set.learn(
                    from: failure, shutsGate: parking.shutsGate, policy: entry.policy, origin: entry.origin,
                    isFromCanary: entry.isCanary, now: now, using: &generator)
            }
            set.change(id) { entry in
                entry.state = .waiting
                entry.isAbandoned = startsAnew
                entry.attemptCount = attemptCount
                entry.automaticLeft = automaticLeft
                entry.isBodyReplayable = isBodyReplayable
                entry.lastFailure = failure
                entry.lastFailureAt = now
                entry.dueAt = startsAnew ? now : now + parking.delay
                entry.waitsForOrigin = parking.shutsGate || startsAnew
                entry.waitsForStatus = parking.rule == .status
            }
            if failure.evidence == .answered { set.actions.append(.dropAnswer(id)) }
            // Nor is it what went wrong.
            if !isOurs { set.noteCause(of: id) }
            set.laneStopped(id, in: entry.lane, now: now)
            set.settleAfterFailure(id, by: parking, now: now, using: &generator)
        }
    }

    /// Whether the answer in hand may be asked for again. If not it is delivered, and the attempt goes on
    /// being under way until that is done.
    private mutating func paysForStatus(
        _ id: EntryID, _ parking: Verdict.Parking, _ failure: Failure, _ attemptCount: Int, now: Timestamp
    ) -> Bool {
        giveGrantBack(id, wasMade: true)
        guard failure.evidence == .answered, let entry = entries[id] else { return true }
        // Its time is over, but an answer is better than none.
        if isDraining && entry.ticket == nil || entry.expiresAt <= now {
            deliverAnswer(id, .limit, attemptCount, now: now)
            return false
        }
        // Held back it goes only when a person says so, and that is free.
        guard parking.rule == .status, !entry.isHeldBack else { return true }
        // Nobody would wait for it any more when the origin wants to be asked.
        if entry.ticket == nil, entry.ticketWish == .none, parking.retryAfter ?? .zero > entry.expiresAt - now {
            deliverAnswer(id, .holdMax, attemptCount, now: now)
            return false
        }
        let (isPaid, grant) = pay(for: entry.policy, to: entry.origin)
        entries[id]?.grant = grant
        if !isPaid { deliverAnswer(id, .budget, attemptCount, now: now) }
        return isPaid
    }

    mutating func deliverAnswer(
        _ id: EntryID, _ reason: Verdict.DeliverReason, _ attemptCount: Int, now: Timestamp
    ) {
        guard let origin = entries[id]?.origin else { return }
        entries[id]?.attemptCount = attemptCount
        entries[id]?.attempts.amendLast(.deliver(reason))
        leaveIncident(of: id, now: now)
        originOpened(origin, now: now)
        actions.append(.deliverAnswer(id, reason))
    }

    /// Where an entry that was let down is put: among those that wait, or before a person.
    private mutating func settle(_ id: EntryID, by parking: Verdict.Parking, now: Timestamp) {
        if let reason = parking.asks {
            change(id) { entry in
                entry.state = .undecided
                entry.why = reason
                entry.placement += 1
            }
            laneChanged(entries[id]?.lane, now: now)
            if reason == .exhausted, parking.shutsGate { incidentExhausted(entries[id]?.incident, now: now) }
        // mutant: released-by-retry
        } else if entries[id]?.isHeldBack == true {
            change(id) { $0.state = .held }
        } else {
            place(id, now: now)
            askWithIncident(id, now: now)
        }
    }

    private mutating func joinIncident(
        _ id: EntryID, of parking: Verdict.Parking, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        // Nothing is away where the work may have been done: that is a question, not an outage.
        if parking.asks == .maybeApplied { return leaveIncident(of: id, now: now) }
        joinIncident(id, now: now, using: &generator)
        touchIncident(entries[id]?.incident, now: now)
    }

    mutating func leaveIncident(of id: EntryID, now: Timestamp) {
        guard let incident = entries[id]?.incident else { return }
        entries[id]?.incident = nil
        leaveIncident(id, of: incident, now: now)
    }

    private mutating func settleAfterFailure(
        _ id: EntryID, by parking: Verdict.Parking, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = entries[id] else { return }
        if entry.expiresAt <= now || isDraining { endOrOfferTicket(id, now: now) }
        if entries[id] != nil {
            joinIncident(id, of: parking, now: now, using: &generator)
            // What a person asked for and we cut off is still asked for, whatever would follow by itself.
            if !(entry.isAbandoned && entry.isAskedFor && parking.asks == nil) {
                settle(id, by: parking, now: now)
            }
            if entry.isAbandoned {
                entries[id]?.isAbandoned = false
                line(of: entry.origin) { $0.gate.mayBeReachable(now: now) }
                makeEligible(id, by: entry.isAskedFor ? .admin : .reachability)
            }
        }
        announce(entry.origin)
        dispatch(entry.origin, now: now)
    }

    /// Its time is over, or all time is: a ticket lives on, and who may have one is asked.
    mutating func endOrOfferTicket(_ id: EntryID, now: Timestamp) {
        guard let entry = entries[id], !entry.isBeingStored else { return }
        if entry.ticket == nil, entry.ticketWish == .ticket {
            entries[id]?.ticketWish = .offered
            actions.append(.offerTicket(id))
        }
        guard entry.ticketWish == .none || entry.ticket != nil, entry.state != .attempting else { return }
        if entry.expiresAt <= now {
            finish(id, as: .expired, now: now)
            actions.append(.end(id, .expired))
        // mutant: draining
        } else if isDraining, entry.ticket == nil {
            endDraining(id, now: now)
        }
    }

    /// Takes note of whether a byte of it may have left.
    private mutating func noteSent(_ id: EntryID, _ failure: Failure?, _ records: [AttemptRecord]) {
        let evidence = [failure?.evidence] + records.map(\.evidence)
        if evidence.contains(where: { $0 != nil && $0 != .neverSent }) { entries[id]?.isNeverSent = false }
    }

    /// What a failure says about its origin.
    mutating func learn(
        from failure: Failure, shutsGate: Bool, policy: Policy, origin: Origin, isFromCanary: Bool,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) {
        // An answer that is not delivered: the origin is there, and not well.
        if failure.evidence == .answered {
            return originOpened(origin, isWell: false, now: now)
        }
        var line = lines[origin] ?? OriginLine(gate: OriginGate(windowMax: limits.perOriginAttemptCountMax))
        // A canary that connected and was then let down proves no response either; the next one waits too.
        if shutsGate || (isFromCanary && line.gate.isShut) {
            let (before, wasShut) = (line.gate.canaryAt, line.gate.isShut)
            line.gate.failed(
                isFromCanary: isFromCanary, delay: policy.delay, now: now, using: &generator)
            if let canaryAt = line.gate.canaryAt, canaryAt != before {
                timers.push(.canary(origin), key: canaryAt)
            }
            if !wasShut { actions.append(.gate(origin, isShut: true)) }
        } else if !failure.phase.isBeforeSending {
            line.gate.wentWrong()
        }
        lines[origin] = line
    }
}
