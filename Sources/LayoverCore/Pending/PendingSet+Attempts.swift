import Retry

/// Facts about the attempts of requests, from the first that joins to the last that ends.
extension PendingSet {
    // MARK: Joining

    /// An exchange asks to join: its attempt failed, or its loop knows the gate to be shut.
    package mutating func parked(
        _ new: NewEntry, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.admits(new) else { return }
            var entry = set.entry(new, sequence: set.sequence + 1, now: now)
            if let refusal = set.pay(for: &entry, new.parking, now: now) {
                return set.schedule.actions.append(.deliverAnswer(new.id, refusal))
            }
            set.join(entry, new.failure, now: now)
            set.joinIncident(new.id, of: new.parking, now: now, using: &generator)
            set.addPut(new.id, preconditions: new.preconditions, supersedes: new.parking.asks == nil, now: now)
            if let failure = new.failure {
                set.schedule.learn(
                    from: failure, of: (new.policy, new.origin), shutsGate: new.parking.shutsGate, isFromCanary: false,
                    now: now, using: &generator)
                set.settle(new.id, by: new.parking, now: now)
            } else {
                set.schedule.admitFresh(new.id, now: now)
            }
        }
    }

    private mutating func admits(_ new: NewEntry) -> Bool {
        if isDraining {
            schedule.actions.append(.end(new.id, .draining))
        // mutant: over-the-limit
        } else if entries.count + acceptingCount >= limits.entryCountMax {
            schedule.actions.append(.refuse(new.id, limit: "limits.entries", value: limits.entryCountMax))
        } else if heldCount >= limits.heldClientCountMax {
            schedule.actions.append(
                .refuse(new.id, limit: "limits.heldClients", value: limits.heldClientCountMax))
        } else {
            return entries[new.id] == nil
        }
        return false
    }

    mutating func entry(_ new: NewEntry, sequence: Int, now: Timestamp) -> Entry {
        Entry(new, policy: policies.shared(new.policy), sequence: sequence, now: now)
    }

    /// Pays for the retry of a status.
    ///
    /// - Returns: Why it must not be retried; nil if it may.
    private mutating func pay(for entry: inout Entry, _ parking: Verdict.Parking, now: Timestamp) -> Verdict.DeliverReason? {
        // Held back it goes only when a person says so, and that is free.
        guard parking.rule == .status, !entry.isHeldBack else { return nil }
        // Its client would be gone when the origin wants to be asked.
        if case .client(.none) = entry.holder, parking.retryAfter ?? .zero > entry.expiresAt - now { return .holdMax }
        let payment = schedule.pay(for: entry.policy, to: entry.origin)
        entry.grant = payment.grant
        return payment.isPaid ? nil : .budget
    }

    /// - Returns: False if a ticket that it depends on was not delivered.
    @discardableResult
    mutating func join(_ entry: Entry, _ failure: Failure? = nil, now: Timestamp) -> Bool {
        sequence = max(sequence, entry.sequence)
        schedule.insert(entry, now: now)
        schedule.actions.append(.report(.parked, entry.id))
        let isDependable = schedule.joinParents(entry.id)
        schedule.laneChanged(entry.lane, now: now)
        if failure?.evidence == .answered { schedule.actions.append(.dropAnswer(entry.id)) }
        return isDependable
    }

    /// An exchange joins whose first attempt is under way: it is about to become a ticket, and goes on meanwhile.
    package mutating func joinedUnderWay(_ new: NewEntry, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[new.id] == nil else { return }
            set.join(set.entry(new, sequence: set.sequence + 1, now: now), now: now)
            set.addPut(new.id, preconditions: new.preconditions, supersedes: false, now: now)
            set.schedule.entries[new.id]?.isNeverSent = false
            set.schedule.transition(new.id, to: .attempting(.init()), now: now)
        }
    }

    /// The body of an entry's request has arrived whole.
    package mutating func bodyCompleted(
        of id: EntryID, byteCount: Int, isReplayable: Bool, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id],
                entry.requestByteCount != byteCount || entry.isBodyReplayable != isReplayable
            else { return }
            set.schedule.change(id) { entry in
                entry.requestByteCount = byteCount
                entry.isBodyReplayable = isReplayable
            }
            set.takePlaces(id, now: now)
            // It will leave the window as a big one, so it has to be in it as one.
            guard entry.state == .attempting, set.entries[id]?.isBig != entry.isBig else { return }
            set.schedule.origins[entry.origin].grewBig()
        }
    }

    /// A request may be superseded by a newer one from now on.
    ///
    /// - Parameter supersedes: Whether it may take the places of older ones now.
    mutating func addPut(_ id: EntryID, preconditions: String?, supersedes: Bool, now: Timestamp) {
        guard let entry = entries[id] else { return }
        if entry.method != "PUT", let lane = entry.lane { schedule.lanes.noteOther(lane, sequence: entry.sequence) }
        schedule.puts.add(entry, preconditions: preconditions)
        if supersedes { takePlaces(id, now: now) } else if entry.isBodyReplayable { schedule.puts.forgetOlder(than: entry) }
    }

    /// A PUT takes the places of those to its URL before it, once it is there whole.
    private mutating func takePlaces(_ id: EntryID, now: Timestamp) {
        // mutant: half-put
        guard let entry = entries[id], entry.isBodyReplayable, entry.state == .waiting, !schedule.dependencies.waits(id)
        else { return }
        for older in schedule.puts.older(than: entry, schedule.lanes) {
            // What cannot be passed over keeps all that are behind it.
            guard let superseded = entries[older], superseded.state == .waiting || superseded.state == .held,
                superseded.isNeverSent, !superseded.isBeingStored, !schedule.dependencies.hasChildren(older),
                superseded.ticket == nil || entry.ticket != nil
            else { break }
            schedule.entries[older]?.supersededBy = id
            schedule.end(older, as: .cancelled, .superseded(by: id), now: now)
        }
        schedule.puts.forgetOlder(than: entry)
    }

    // MARK: Attempts

    /// A response head came back for an entry's attempt, or its CONNECT stands.
    package mutating func attemptAnswered(_ id: EntryID, _ tally: AttemptTally, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.schedule.entries[id]?.count(tally)
            set.schedule.entries[id]?.isNeverSent = false
            // It waits no longer, however long its response or its tunnel goes on.
            set.schedule.leaveIncident(of: id, now: now)
            set.schedule.originOpened(entry.origin, now: now)
        }
    }

    /// The attempt of an entry failed and is worth another.
    package mutating func attemptFailed(
        _ id: EntryID, _ failure: Failure, _ parking: Verdict.Parking, _ tally: AttemptTally, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], let attempt = entry.attempt else { return }
            let wasStoppedByStore = parking.rule == .store && failure.evidence == .neverSent
            set.schedule.entries[id]?.amend { entry in
                entry.count(tally)
                entry.noteSent(failure, tally.records)
                entry.automaticLeft = tally.automaticLeft
                // The acknowledgement of a person is for one attempt, but for one that the store did not let begin.
                if !wasStoppedByStore { entry.isForced = false }
            }
            guard let parking = set.allowed(parking, after: failure, of: id, now: now),
                set.paysForStatus(id, parking, failure, now: now)
            else { return }
            let startsAnew = attempt.isAbandoned && failure.evidence == .neverSent
            // One that was cut off by us, or by our store, says nothing about its origin.
            let isOurs = startsAnew || parking.rule == .store && failure.evidence == .neverSent
            if !isOurs {
                set.schedule.learn(
                    from: failure, of: (entry.policy, entry.origin), shutsGate: parking.shutsGate,
                    isFromCanary: attempt.isCanary, now: now, using: &generator)
            }
            set.schedule.entries[id]?.amend { entry in
                entry.isBodyReplayable = tally.isBodyReplayable
                entry.failed(failure, at: now)
                entry.dueAt = startsAnew ? now : now + parking.delay
                entry.waitEnd = parking.rule == .status ? .status : parking.shutsGate || startsAnew ? .origin : .time
            }
            // Nor is it what went wrong.
            if !isOurs { set.schedule.incidents.noteCause(failure, of: entry.incident) }
            set.schedule.transition(id, to: .waiting(.due), now: now)
            if failure.evidence == .answered { set.schedule.actions.append(.dropAnswer(id)) }
            if entry.expiresAt <= now || set.isDraining { set.schedule.endOrOfferTicket(id, now: now) }
            guard set.isLive(id) else { return }
            set.joinIncident(id, of: parking, now: now, using: &generator)
            // What a person asked for and we cut off is still asked for, whatever would follow by itself.
            if !(startsAnew && attempt.isAskedFor && parking.asks == nil) { set.settle(id, by: parking, now: now) }
            guard startsAnew else { return }
            set.schedule.origins[entry.origin].gate.mayBeReachable(now: now)
            set.schedule.makeEligible(id, by: attempt.isAskedFor ? .admin : .reachability)
        }
    }

    /// What becomes of a verdict that was given under a policy that is not in force any more.
    ///
    /// - Returns: Nil where the response in hand is delivered after all.
    private mutating func allowed(
        _ parking: Verdict.Parking, after failure: Failure, of id: EntryID, now: Timestamp
    ) -> Verdict.Parking? {
        guard let entry = entries[id], parking.asks != .maybeApplied, entry.isRisky else { return parking }
        if failure.evidence == .answered {
            schedule.giveGrantBack(id, wasMade: true)
            deliverAnswer(id, .notRepeatable, now: now)
            return nil
        }
        let asking = Verdict.Parking(
            delay: .zero, shutsGate: parking.shutsGate, asks: .maybeApplied, rule: .onMaybeApplied)
        schedule.entries[id]?.attempts.amendLast(.park(asking))
        return asking
    }

    /// Whether the response in hand may be asked for again. If not it is delivered, and the attempt goes on
    /// being under way until that is done.
    private mutating func paysForStatus(
        _ id: EntryID, _ parking: Verdict.Parking, _ failure: Failure, now: Timestamp
    ) -> Bool {
        schedule.giveGrantBack(id, wasMade: true)
        guard failure.evidence == .answered, var entry = entries[id] else { return true }
        // Its time is over, but a response is better than none.
        let isOver = isDraining && entry.ticket == nil || entry.expiresAt <= now
        let refusal = isOver ? .limit : pay(for: &entry, parking, now: now)
        schedule.entries[id]?.grant = entry.grant
        if let refusal { deliverAnswer(id, refusal, now: now) }
        return refusal == nil
    }

    private mutating func deliverAnswer(_ id: EntryID, _ reason: Verdict.DeliverReason, now: Timestamp) {
        guard let origin = entries[id]?.origin else { return }
        schedule.entries[id]?.attempts.amendLast(.deliver(reason))
        schedule.leaveIncident(of: id, now: now)
        schedule.originOpened(origin, now: now)
        schedule.actions.append(.deliverAnswer(id, reason))
    }

    /// Where an entry is put whose attempt failed: among those that wait, or before a person.
    private mutating func settle(_ id: EntryID, by parking: Verdict.Parking, now: Timestamp) {
        if let reason = parking.asks {
            schedule.transition(id, to: .undecided(reason), now: now)
            if reason == .exhausted, parking.shutsGate { schedule.incidentExhausted(of: id, now: now) }
        // mutant: released-by-retry
        } else if entries[id]?.isHeldBack == true {
            schedule.transition(id, to: .held, now: now)
        } else {
            schedule.place(id, now: now)
            schedule.askWithIncident(id, now: now)
        }
    }

    private mutating func joinIncident(
        _ id: EntryID, of parking: Verdict.Parking, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        // Nothing is away where the work may have been done: that is a question, not an outage.
        if parking.asks == .maybeApplied { return schedule.leaveIncident(of: id, now: now) }
        schedule.joinIncident(id, now: now, using: &generator)
        schedule.touchIncident(entries[id]?.incident, now: now)
    }

    /// An attempt ended before anything was sent: the request cannot be made complete, or must not be sent.
    ///
    /// - Parameter failure: Nil where the last one says it all.
    package mutating func refused(
        _ id: EntryID, why: UndecidedReason, failure: Failure?, _ tally: AttemptTally, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[id]?.state == .attempting else { return }
            set.schedule.entries[id]?.amend { entry in
                entry.count(tally.counts)
                entry.attempts.append(contentsOf: tally.records)
                entry.failed(failure, at: now)
            }
            set.schedule.ask(id, why, now: now)
        }
    }

    /// The exchange of an entry came to its end on its loop.
    ///
    /// - Parameter status: Of the response that was kept; nil where there is none.
    package mutating func ended(
        _ id: EntryID, as state: EntryState, failure: Failure? = nil, status: Int? = nil, _ tally: AttemptTally,
        now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id] else { return }
            set.schedule.entries[id]?.amend { entry in
                entry.count(tally)
                if let status { entry.ticket?.status = status }
                entry.failed(failure, at: now)
                if let failure, state == .delivered { entry.attempts.lastBrokeOff(failure, at: now) }
            }
            set.schedule.transition(id, to: .ended(state), now: now)
            // Where no attempt was under way the failure is an old one, and known. One that says nothing
            // about the way (a certificate, say) leaves the next canary as soon as it was.
            guard let failure, let attempt = entry.attempt, failure.shutsGate || failure.evidence == .maybeApplied
            else { return }
            set.schedule.learn(
                from: failure, of: (entry.policy, entry.origin), shutsGate: failure.shutsGate,
                isFromCanary: attempt.isCanary, now: now, using: &generator)
        }
    }

    /// What the attempt of an entry proved that has ended meanwhile. It changes nothing but what is known: the state
    /// stays, and no other entry moves.
    ///
    /// - Parameters:
    ///   - failure: Nil where the attempt was answered.
    ///   - tally: The attempts of the exchange, with the one that was cut off: when the entry ended, that was not counted.
    package mutating func recorded(_ failure: Failure?, _ tally: AttemptTally, of id: EntryID, now: Timestamp) {
        schedule.history.change(id) { entry in
            entry.revision += 1
            entry.attemptCount = max(entry.attemptCount, tally.counts.all)
            if let known = entry.ticket?.counts, tally.counts.all >= known.all {
                entry.ticket?.counts = tally.counts
                if failure?.evidence == .maybeApplied { entry.ticket?.counts.mayHaveBeenApplied = true }
            }
            entry.attempts.append(contentsOf: tally.records)
            entry.failed(failure, at: now)
        }
    }
}
