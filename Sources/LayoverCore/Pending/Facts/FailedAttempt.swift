import Retry

/// A failed attempt that is worth another, and what it means for its entry, its incident and its origin.
struct FailedAttempt {
    let failure: Failure
    let parking: Verdict.Parking
    let now: Timestamp

    /// The attempt was made before its request joined.
    ///
    /// - Parameter gate: The gate of the parent proxy of the attempt.
    func apply(
        toNew entry: Entry, through gate: Origin?, in schedule: inout Schedule, using generator: inout some RandomNumberGenerator
    ) {
        schedule.learn(
            from: failure, of: (entry.policy, entry.origin, gate), shutsGate: parking.shutsGate, isPaused: isPaused(entry),
            isFromCanary: false, now: now, using: &generator)
        placeAfterFailure(entry.id, by: parking, in: &schedule)
        if leavesParentProxy(gate, for: entry.parentProxyGate) { schedule.makeEligible(entry.id, by: .reachability) }
    }

    /// Whether the attempt could not reach a parent proxy that the request does not need any more: a reload has named another way.
    func leavesParentProxy(_ gate: Origin?, for next: Origin?) -> Bool {
        failure.kind == .parentProxyUnreachable && gate != next && parking.rule != .aborted && parking.asks == nil
    }

    /// The attempt of an entry of the set.
    func apply(
        to id: EntryID, _ tally: AttemptTally, in schedule: inout Schedule, using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = schedule.entries[id], let attempt = entry.attempt else { return }
        let wasStoppedByStore = parking.rule == .store && failure.evidence == .neverSent
        let hasMoved = (tally.resume?.done ?? 0) > (entry.resume?.done ?? 0)
        schedule.entries[id]?.amend { entry in
            entry.count(tally)
            if hasMoved { entry.waitsAnew(at: now) }
            if attempt.isAnswered, tally.resume != nil, tally.records.isEmpty {
                entry.attempts.lastBrokeOff(failure, .park(parking), at: now)
            }
            entry.noteSent(failure, tally.records)
            entry.automaticLeft = tally.automaticLeft
            // A `force` is for one attempt. An attempt that the store stopped before anything was sent does not use it up.
            if !wasStoppedByStore { entry.isForced = false }
            entry.owesBudget = false
        }
        guard let parking = allowedParking(of: id, in: &schedule), paysForStatus(id, parking, in: &schedule) else { return }
        let blame = blame(for: attempt, of: entry, parking)
        if blame.tellsOfTheWay {
            schedule.learn(
                from: failure, of: (entry.policy, entry.origin, attempt.parentProxyGate), shutsGate: parking.shutsGate,
                isPaused: isPaused(entry), isFromCanary: attempt.isCanary, now: now, using: &generator)
            schedule.incidents.noteCause(failure, of: entry.incident)
        }
        schedule.entries[id]?.amend { entry in
            entry.isBodyReplayable = tally.isBodyReplayable
            entry.failed(failure, at: now)
            entry.dueAt = blame.startsAnew ? now : now + parking.delay
            entry.waitEnd = parking.rule == .status ? .status : parking.shutsGate || blame.startsAnew ? .origin : .time
        }
        schedule.transition(id, to: .waiting(.due), now: now)
        if hasMoved { schedule.watchDeadlines(of: id, now: now) }
        if failure.evidence == .answered { schedule.actions.append(.dropResponse(id)) }
        if entry.expiresAt <= now || schedule.isDraining { schedule.endOrOfferTicket(id, now: now) }
        guard schedule.entries[id] != nil else { return }
        changeIncident(of: entry, after: attempt, blame, parking, in: &schedule)
        // An attempt that a person asked for stays requested if the next attempt follows at once.
        if !(blame.startsAnew && attempt.isAskedFor && parking.asks == nil) { placeAfterFailure(id, by: parking, in: &schedule) }
        guard blame.startsAnew else { return }
        if blame == .networkChange {
            for gate in [entry.origin, entry.parentProxyGate].compactMap({ $0 }) { schedule.origins[gate].gate.mayBeReachable(now: now) }
        }
        schedule.makeEligible(id, by: attempt.isAskedFor ? .admin : .reachability)
    }

    // MARK: What the attempt failed by

    /// What an attempt failed by.
    private enum Blame {
        /// The origin, or the way to it.
        case way
        /// A parent proxy that the request does not need any more.
        case replacedParentProxy
        /// A change of the network, or of the mode, for which we abandoned an attempt that had sent nothing.
        case networkChange
        /// A person, who ended the attempt.
        case person
        /// Something of our own before anything was sent: the store did not take note of it, its body could not be read.
        case store

        /// Whether it says something about the origin or the parent proxy.
        var tellsOfTheWay: Bool {
            switch self {
            case .way, .replacedParentProxy: true
            case .networkChange, .person, .store: false
            }
        }

        /// Whether another attempt follows at once.
        var startsAnew: Bool {
            switch self {
            case .replacedParentProxy, .networkChange: true
            case .way, .person, .store: false
            }
        }
    }

    private func blame(for attempt: Entry.Attempt, of entry: Entry, _ parking: Verdict.Parking) -> Blame {
        if parking.rule == .aborted { return .person }
        if attempt.isAbandoned, failure.evidence == .neverSent { return .networkChange }
        if leavesParentProxy(attempt.parentProxyGate, for: entry.parentProxyGate) { return .replacedParentProxy }
        return parking.rule == .store && failure.evidence == .neverSent ? .store : .way
    }

    private func changeIncident(
        of entry: Entry, after attempt: Entry.Attempt, _ blame: Blame, _ parking: Verdict.Parking, in schedule: inout Schedule
    ) {
        // The attempt passed the parent proxy, so its entry leaves the outage of that proxy.
        if blame.tellsOfTheWay, failure.kind != .parentProxyUnreachable { schedule.leaveParentProxyOutage(entry.id, now: now) }
        if leavesParentProxy(attempt.parentProxyGate, for: entry.parentProxyGate) {
            schedule.changeParentProxyOutage(entry.id, now: now)
        } else if blame != .person || parking.asks != nil {
            // The end of an attempt by a person is no outage.
            schedule.changeIncident(of: entry.id, after: parking, now: now)
        }
    }

    /// Whether the response has paused the origin for the policy of its request.
    private func isPaused(_ entry: Entry) -> Bool { entry.policy.pausesOrigins && parking.retryAfter ?? .zero > .zero }

    /// What becomes of a verdict that was given under a policy that is not in force any more.
    ///
    /// - Returns: Nil where the response in hand is delivered after all.
    private func allowedParking(of id: EntryID, in schedule: inout Schedule) -> Verdict.Parking? {
        guard let entry = schedule.entries[id], parking.asks != .maybeApplied, entry.isRisky else { return parking }
        if failure.evidence == .answered {
            schedule.giveGrantBack(id, wasMade: true)
            deliverResponse(id, .notRepeatable, in: &schedule)
            return nil
        }
        let asking = Verdict.Parking(delay: .zero, shutsGate: parking.shutsGate, asks: .maybeApplied, rule: .onMaybeApplied)
        schedule.entries[id]?.attempts.amendLast(.park(asking))
        return asking
    }

    /// Whether the response in hand may be asked for again. If not it is delivered, and the attempt goes on
    /// being under way until that is done.
    private func paysForStatus(_ id: EntryID, _ parking: Verdict.Parking, in schedule: inout Schedule) -> Bool {
        schedule.giveGrantBack(id, wasMade: true)
        guard failure.evidence == .answered, var entry = schedule.entries[id] else { return true }
        schedule.origins[entry.origin].changePause(of: entry) { $0.wentWrong($1) }
        // Its time is over, but a response is better than none.
        let isOver = schedule.isDraining && entry.ticket == nil || entry.expiresAt <= now
        let refusal = isOver ? .limit : RetriedStatus(parking: parking, now: now).apply(to: &entry, &schedule)
        schedule.entries[id]?.grant = entry.grant
        schedule.entries[id]?.owesBudget = entry.owesBudget
        if let refusal { deliverResponse(id, refusal, in: &schedule) }
        return refusal == nil
    }

    private func deliverResponse(_ id: EntryID, _ reason: Verdict.DeliverReason, in schedule: inout Schedule) {
        guard let origin = schedule.entries[id]?.origin else { return }
        schedule.entries[id]?.attempts.amendLast(.deliver(reason))
        schedule.leaveIncident(id, now: now)
        schedule.originOpened(origin, now: now)
        schedule.actions.append(.deliverResponse(id, reason))
    }

    /// Puts an entry among those that wait, or before a person.
    private func placeAfterFailure(_ id: EntryID, by parking: Verdict.Parking, in schedule: inout Schedule) {
        if let reason = parking.asks {
            schedule.transition(id, to: .undecided(reason), now: now)
            if reason == .exhausted, parking.shutsGate { schedule.incidentExhausted(of: id, now: now) }
        // mutant: released-by-retry
        } else if schedule.entries[id]?.isHeldBack == true {
            schedule.transition(id, to: .held, now: now)
        } else {
            schedule.place(id, now: now)
            schedule.askIfExhausted(id, now: now)
        }
    }
}
