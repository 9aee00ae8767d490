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
            if let reason = RetriedStatus(parking: new.parking, now: now).apply(to: &entry, &set.schedule) {
                return set.schedule.actions.append(.deliverResponse(new.id, reason))
            }
            set.schedule.join(entry, after: new.failure, now: now)
            let fact = new.failure.map { FailedAttempt(failure: $0, parking: new.parking, now: now) }
            if fact?.leavesParentProxy(new.attemptParentProxyGate, for: new.parentProxyGate) == true {
                set.schedule.changeParentProxyOutage(new.id, now: now)
            } else {
                set.schedule.changeIncident(of: new.id, after: new.parking, now: now)
            }
            PutCoalescing(id: new.id, now: now).joined(supersedes: new.parking.asks == nil, &set.schedule)
            if let fact {
                fact.apply(toNew: entry, through: new.attemptParentProxyGate, in: &set.schedule, using: &generator)
            } else {
                set.schedule.admitFresh(new.id, now: now)
            }
        }
    }

    /// An exchange joins whose first attempt is under way: it is about to become a ticket, or its client is gone. The attempt goes on.
    package mutating func joinedUnderWay(_ new: NewEntry, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard set.entries[new.id] == nil else { return }
            let entry = set.admission.entry(new, sequence: set.admission.nextSequence(), now: now)
            let attempt = Entry.Attempt(startedAt: new.request.createdAt, parentProxyGate: new.attemptParentProxyGate)
            if new.unattendedFor != nil {
                return set.schedule.insertUnattended(entry, attempt: attempt, now: now)
            }
            set.schedule.join(entry, now: now)
            PutCoalescing(id: new.id, now: now).joined(supersedes: false, &set.schedule)
            set.schedule.entries[new.id]?.isNeverSent = false
            set.schedule.transition(new.id, to: .attempting(attempt), now: now)
        }
    }

    /// The client of an entry is gone, and its attempt goes on because it may have been applied.
    ///
    /// - Parameter limit: How long it may go on.
    package mutating func wentUnattended(_ id: EntryID, for limit: Duration, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.becameUnattended(id, for: limit, now: now) }
    }

    /// Whether others with its key wait for the outcome of an entry whose time without a client is over.
    package mutating func foundOthers(_ id: EntryID, doWait: Bool, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.foundOthers(id, doWait: doWait, now: now) }
    }

    /// No others wait for the outcome of an entry any more.
    package mutating func othersLeft(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { $0.schedule.othersLeft(id, now: now) }
    }

    /// The body of an entry's request has arrived whole.
    package mutating func bodyCompleted(
        of id: EntryID, byteCount: Int, isReplayable: Bool, now: Timestamp
    ) -> [PendingAction] {
        gather(now: now) { set in
            CompletedBody(byteCount: byteCount, isReplayable: isReplayable, now: now).apply(to: id, &set.schedule)
        }
    }

    // MARK: Attempts

    /// The connection of an entry's attempt stands, TLS included, and the request is about to be sent.
    package mutating func attemptConnected(_ id: EntryID, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            guard let entry = set.entries[id], let attempt = entry.attempt else { return }
            set.schedule.parentProxyReached(attempt.parentProxyGate, isAnswered: false, now: now)
            // A parent proxy takes requests over plain http itself. A connection to the proxy then shows nothing about the origin.
            if attempt.parentProxyGate == nil || entry.origin.scheme != .http { set.schedule.originConnected(entry.origin) }
        }
    }

    /// A response head came back for an entry's attempt, or its CONNECT stands.
    package mutating func attemptAnswered(_ id: EntryID, _ tally: AttemptTally, now: Timestamp) -> [PendingAction] {
        gather(now: now) { set in
            AnsweredAttempt(tally: tally, now: now).apply(to: id, &set.schedule)
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
            EndedExchange(state: state, failure: failure, status: status, tally: tally, now: now)
                .apply(to: id, &set.schedule, using: &generator)
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
