import Retry

/// Facts about the attempts of requests, from the first that joins to the last that ends.
extension PendingSet {
    // MARK: Joining

    /// An exchange asks to join: its attempt failed, or its loop knows the gate to be shut.
    package mutating func parked(
        _ new: NewEntry, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[new.id] == nil else { return }
            if let refusal = set.admission.refusal(of: new, set.schedule) { return set.schedule.actions.append(refusal) }
            var entry = set.admission.entry(new, sequence: set.admission.nextSequence(), now: now)
            if let reason = set.schedule.applyStatus(to: &entry, new.parking, now: now) {
                return set.schedule.actions.append(.deliverResponse(new.id, reason))
            }
            let joining = JoiningEntry(entry, now: now)
            joining.join(after: new.failure, &set.schedule)
            set.schedule.joinIncident(new.id, of: new.parking, now: now)
            PutCoalescing(id: new.id, now: now).joined(supersedes: new.parking.asks == nil, &set.schedule)
            if let failure = new.failure {
                FailedAttempt(failure: failure, parking: new.parking, now: now)
                    .apply(toNew: entry, in: &set.schedule, using: &generator)
            } else {
                joining.admitFresh(&set.schedule)
            }
        }
    }

    /// An exchange joins whose first attempt is under way: it is about to become a ticket, and goes on meanwhile.
    package mutating func joinedUnderWay(_ new: NewEntry, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[new.id] == nil else { return }
            let entry = set.admission.entry(new, sequence: set.admission.nextSequence(), now: now)
            JoiningEntry(entry, now: now).join(&set.schedule)
            PutCoalescing(id: new.id, now: now).joined(supersedes: false, &set.schedule)
            set.schedule.entries[new.id]?.isNeverSent = false
            set.schedule.transition(new.id, to: .attempting(.init(startedAt: new.request.createdAt)), now: now)
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
            PutCoalescing(id: id, now: now).takePlaces(&set.schedule)
            // It will leave the window as a big one, so it has to be in it as one.
            guard entry.state == .attempting, set.entries[id]?.isBig != entry.isBig else { return }
            set.schedule.origins[entry.origin].grewBig()
        }
    }

    // MARK: Attempts

    /// The connection of an entry's attempt stands, TLS included, and the request is about to be sent.
    package mutating func attemptConnected(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.schedule.originConnected(entry.origin)
        }
    }

    /// A response head came back for an entry's attempt, or its CONNECT stands.
    package mutating func attemptAnswered(_ id: EntryID, _ tally: AttemptTally, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], entry.state == .attempting else { return }
            set.schedule.entries[id]?.count(tally)
            set.schedule.entries[id]?.isNeverSent = false
            if case .attempting(var attempt) = entry.fullState {
                attempt.isAnswered = true
                set.schedule.entries[id]?.fullState = .attempting(attempt)
            }
            set.schedule.origins[entry.origin].changePause(of: entry) { $0.answered($1, now: now) }
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
            FailedAttempt(failure: failure, parking: parking, now: now)
                .apply(to: id, tally, in: &set.schedule, using: &generator)
        }
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
                entry.count(tally)
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
        schedule.history.change(id) { $0.addLateEvidence(failure, tally, at: now) }
    }
}
