import Retry

/// The attempt of an entry failed and is worth another.
package struct AttemptFailed: PendingFact {
    package let id: EntryID
    package let failure: Failure
    let parking: Verdict.Parking
    package let tally: AttemptTally

    package init(_ id: EntryID, _ failure: Failure, _ parking: Verdict.Parking, _ tally: AttemptTally) {
        self.id = id
        self.failure = failure
        self.parking = parking
        self.tally = tally
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using generator: inout some RandomNumberGenerator) {
        FailureEffects(failure: failure, parking: parking, now: now).apply(to: id, tally, in: &set, using: &generator)
    }
}

/// A failed attempt that is worth another, and what it means for its entry, its incident and its origin.
struct FailureEffects {
    let failure: Failure
    let parking: Verdict.Parking
    let now: Timestamp

    /// The attempt was made before its request joined.
    ///
    /// - Parameter gate: The gate of the parent proxy of the attempt.
    func apply(
        toNew entry: Entry, through gate: Origin?, in set: inout PendingSet, using generator: inout some RandomNumberGenerator
    ) {
        set.learn(
            from: failure, of: (entry.policy, entry.origin, gate), shutsGate: parking.shutsGate, isPaused: isPaused(entry),
            isFromCanary: false, now: now, using: &generator)
        placeAfterFailure(entry.id, by: parking, in: &set)
        guard leavesWait(of: gate, for: entry.parentProxyGate) else { return }
        set.amend(entry.id) { $0.dueAt = now }
        set.makeEligible(entry.id, by: .reachability)
    }

    /// Whether the attempt could not reach a parent proxy that the request does not need any more: a reload has named another way.
    func leavesParentProxy(_ gate: Origin?, for next: Origin?) -> Bool {
        failure.kind == .parentProxyUnreachable && leaves(gate, for: next)
    }

    /// Whether a parent proxy that the request does not need any more is the reason for the wait: the attempt could not reach it, or it
    /// asked for the wait.
    private func leavesWait(of gate: Origin?, for next: Origin?) -> Bool {
        let isAskedFor = failure.retryAfter != nil && parking.retryAfter != nil
        return (failure.kind == .parentProxyUnreachable || isAskedFor) && leaves(gate, for: next)
    }

    private func leaves(_ gate: Origin?, for next: Origin?) -> Bool { gate != next && parking.rule != .aborted && parking.asks == nil }

    /// The attempt of an entry of the set.
    func apply(
        to id: EntryID, _ tally: AttemptTally, in set: inout PendingSet, using generator: inout some RandomNumberGenerator
    ) {
        guard let entry = set.entries[id], let attempt = entry.attempt else { return }
        let wasStoppedByStore = parking.rule == .store && failure.evidence == .neverSent
        let hasMoved = (tally.resume?.done ?? 0) > (entry.resume?.done ?? 0)
        set.amend(id) { entry in
            entry.count(tally)
            if hasMoved { entry.waitsAnew(at: now) }
            if attempt.isAnswered, tally.resume != nil, tally.records.isEmpty {
                entry.attempts.lastBrokeOff(failure, .park(parking), at: now)
            }
            entry.noteSent(failure, tally.records)
            let policyLeft = entry.policy.automaticAttemptsMax.map { max(0, $0 - tally.counts.automatic) }
            entry.automaticLeft = attempt.isRerouted ? policyLeft : tally.automaticLeft
            // A `force` is for one attempt. An attempt that the store stopped before anything was sent does not use it up.
            if !wasStoppedByStore { entry.isForced = false }
            entry.owesBudget = false
        }
        guard let parking = allowedParking(of: id, in: &set), paysForStatus(id, parking, in: &set) else { return }
        let blame = blame(for: attempt, of: entry, parking)
        if blame.tellsOfTheWay {
            // A response that is retried has paused its origin already.
            if failure.evidence == .neverSent {
                set.pause(entry.origin, for: entry.policy, through: attempt.parentProxyGate, parking.retryAfter ?? .zero, now: now)
            }
            set.learn(
                from: failure, of: (entry.policy, entry.origin, attempt.parentProxyGate), shutsGate: parking.shutsGate,
                isPaused: isPaused(entry), isFromCanary: attempt.isCanary, now: now, using: &generator)
            set.noteCause(failure, of: entry)
        }
        set.amend(id) { entry in
            entry.isBodyReplayable = tally.isBodyReplayable
            entry.failed(failure, at: now)
            entry.dueAt = blame.startsAnew ? now : now + parking.delay
            entry.waitEnd = parking.rule == .status ? .status : parking.shutsGate || blame.startsAnew ? .origin : .time
        }
        set.transition(id, to: .waiting(.due), now: now)
        if hasMoved { set.watchDeadlines(of: id, now: now) }
        if failure.evidence == .answered { set.addAction(.dropResponse(id)) }
        if entry.expiresAt <= now || set.isDraining { set.endOrOfferTicket(id, now: now) }
        guard set.entries[id] != nil else { return }
        changeIncident(of: entry, after: attempt, blame, parking, in: &set)
        // An attempt that a person asked for stays requested if the next attempt follows at once.
        if !(blame.startsAnew && attempt.isAskedFor && parking.asks == nil) { placeAfterFailure(id, by: parking, in: &set) }
        set.stopIfRisky(id, now: now)
        if attempt.isRerouted { ExhaustedByReload(parking: parking, now: now).apply(to: id, &set) }
        guard blame.startsAnew, set.entries[id] != nil else { return }
        if blame == .networkChange { set.canaryMayGo(for: entry, now: now) }
        set.makeEligible(id, by: attempt.isAskedFor ? .admin : .reachability)
    }

    // MARK: What the attempt failed by

    /// What an attempt failed by.
    private enum Blame {
        /// The origin, or the way to it.
        case way
        /// A parent proxy that the request does not need any more, or the wait that it asked for.
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
        if leavesWait(of: attempt.parentProxyGate, for: entry.parentProxyGate) { return .replacedParentProxy }
        return parking.rule == .store && failure.evidence == .neverSent ? .store : .way
    }

    private func changeIncident(
        of entry: Entry, after attempt: Entry.Attempt, _ blame: Blame, _ parking: Verdict.Parking, in set: inout PendingSet
    ) {
        // The attempt passed the parent proxy, so its entry leaves the outage of that proxy.
        if blame.tellsOfTheWay, failure.kind != .parentProxyUnreachable { set.leaveParentProxyOutage(entry.id, now: now) }
        if leavesParentProxy(attempt.parentProxyGate, for: entry.parentProxyGate) {
            set.changeParentProxyOutage(entry.id, now: now)
        } else if blame != .person || parking.asks != nil {
            // The end of an attempt by a person is no outage.
            set.changeIncident(of: entry.id, after: parking, now: now)
        }
    }

    /// Whether the response has paused the origin for the policy of its request.
    private func isPaused(_ entry: Entry) -> Bool { entry.policy.pausesOrigins && parking.retryAfter ?? .zero > .zero }

    /// The verdict by the policy that is in force, if an older policy gave the first one. A request that a client holds, and about
    /// which its new policy asks no person, fails once it waits (`stopIfRisky`). The same holds for a request without an attempt left
    /// (`ExhaustedByReload`).
    ///
    /// - Returns: Nil where the response in hand is delivered after all.
    private func allowedParking(of id: EntryID, in set: inout PendingSet) -> Verdict.Parking? {
        guard let entry = set.entries[id], parking.asks != .maybeApplied else { return parking }
        // Without a reload the exchange has judged by the same policy.
        let mayBeExhausted = entry.attempt?.isRerouted == true
        if failure.evidence == .answered, let reason = entry.deliverReason(after: parking), mayBeExhausted || reason != .exhausted {
            set.giveGrantBack(id, wasMade: true)
            deliverResponse(id, reason, in: &set)
            return nil
        }
        guard entry.isRisky else { return parking }
        guard entry.ticket != nil || entry.policy.maybeAppliedRule() == .ask else { return parking }
        let asking = Verdict.Parking(delay: .zero, shutsGate: parking.shutsGate, asks: .maybeApplied, rule: .onMaybeApplied)
        set.amend(id) { $0.attempts.amendLast(.park(asking)) }
        return asking
    }

    /// Whether the response in hand may be asked for again. If not it is delivered, and the attempt goes on
    /// being under way until that is done.
    private func paysForStatus(_ id: EntryID, _ parking: Verdict.Parking, in set: inout PendingSet) -> Bool {
        set.giveGrantBack(id, wasMade: true)
        guard failure.evidence == .answered, var entry = set.entries[id] else { return true }
        set.pauseWentWrong(for: entry)
        // Its time is over, but a response is better than none.
        let isOver = set.isDraining && entry.ticket == nil || entry.expiresAt <= now
        let refusal = isOver ? .limit : set.statusRetried(of: &entry, by: parking, now: now)
        set.amend(id) { ($0.grant, $0.owesBudget) = (entry.grant, entry.owesBudget) }
        if let refusal { deliverResponse(id, refusal, in: &set) }
        return refusal == nil
    }

    private func deliverResponse(_ id: EntryID, _ reason: Verdict.DeliverReason, in set: inout PendingSet) {
        guard let origin = set.entries[id]?.origin else { return }
        set.amend(id) { $0.attempts.amendLast(.deliver(reason)) }
        set.leaveIncident(id, now: now)
        set.originOpened(origin, now: now)
        set.addAction(.deliverResponse(id, reason))
    }

    /// Puts an entry among those that wait, or before a person.
    private func placeAfterFailure(_ id: EntryID, by parking: Verdict.Parking, in set: inout PendingSet) {
        if let reason = parking.asks {
            set.transition(id, to: .undecided(reason), now: now)
            if reason == .exhausted, parking.shutsGate { set.incidentExhausted(of: id, now: now) }
            // mutant: released-by-retry
        } else if set.entries[id]?.isHeldBack == true {
            set.transition(id, to: .held, now: now)
        } else {
            set.place(id, now: now)
            set.askIfExhausted(id, now: now)
        }
    }
}
