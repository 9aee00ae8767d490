/// The body of an entry's request has arrived whole.
package struct BodyCompleted: PostedFact {
    let id: EntryID
    let byteCount: Int
    let isReplayable: Bool

    package init(of id: EntryID, byteCount: Int, isReplayable: Bool) {
        self.id = id
        self.byteCount = byteCount
        self.isReplayable = isReplayable
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], entry.requestByteCount != byteCount || entry.isBodyReplayable != isReplayable
        else { return }
        set.change(id) { entry in
            entry.requestByteCount = byteCount
            entry.isBodyReplayable = isReplayable
        }
        set.takePlacesOfOlderPuts(id, now: now)
        // A request without a client is in no window.
        guard entry.state == .attempting, !entry.isUnattended, set.entries[id]?.isBig != entry.isBig else { return }
        set.attemptGrewBig(entry)
    }
}

/// The connection of an entry's attempt stands, TLS included, and the request is about to be sent.
package struct AttemptConnected: PostedFact {
    let id: EntryID

    package init(_ id: EntryID) { self.id = id }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], let attempt = entry.attempt else { return }
        set.parentProxyReached(attempt.parentProxyGate, isAnswered: false, now: now)
        // A parent proxy takes requests over plain http itself. A connection to the proxy then shows nothing about the origin.
        if attempt.parentProxyGate == nil || entry.origin.scheme != .http { set.originConnected(entry.origin) }
    }
}

/// A response head came back for an entry's attempt, or its CONNECT stands.
package struct AttemptAnswered: PendingFact {
    package let id: EntryID
    package let tally: AttemptTally

    package init(_ id: EntryID, _ tally: AttemptTally) {
        self.id = id
        self.tally = tally
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id], let attempt = entry.attempt else { return }
        set.amend(id) { entry in
            entry.count(tally)
            entry.isNeverSent = false
            entry.changeAttempt { $0.isAnswered = true }
        }
        // Its client waits no longer. Of a ticket people are told at its end, which comes soon.
        if entry.ticket == nil { set.addAction(.report(.changed, id)) }
        set.attemptAnswered(attempt, of: entry, now: now)
    }
}

/// An attempt ended before anything was sent: the request cannot be made complete, or must not be sent.
package struct RequestNotSendable: PendingFact {
    package let id: EntryID
    let why: UndecidedReason
    let failure: Failure?
    let tally: AttemptTally

    /// - Parameter failure: Nil where the last one says it all.
    package init(_ id: EntryID, why: UndecidedReason, failure: Failure?, _ tally: AttemptTally) {
        self.id = id
        self.why = why
        self.failure = failure
        self.tally = tally
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using _: inout some RandomNumberGenerator) {
        guard set.entries[id]?.state == .attempting else { return }
        set.amend(id) { entry in
            entry.count(tally)
            entry.failed(failure, at: now)
        }
        set.ask(id, why, now: now)
    }
}

/// The exchange of an entry came to its end on its loop.
package struct ExchangeEnded: PendingFact {
    package let id: EntryID
    let state: EntryState
    package let failure: Failure?
    let status: Int?
    package let tally: AttemptTally

    /// - Parameter status: Of the response that was kept. Nil: there is none.
    package init(_ id: EntryID, as state: EntryState, failure: Failure? = nil, status: Int? = nil, _ tally: AttemptTally) {
        self.id = id
        self.state = state
        self.failure = failure
        self.status = status
        self.tally = tally
    }

    package func apply(to set: inout PendingSet, now: Timestamp, using generator: inout some RandomNumberGenerator) {
        guard let entry = set.entries[id] else { return }
        set.amend(id) { entry in
            entry.count(tally)
            if let status { entry.ticket?.status = status }
            entry.failed(failure, at: now)
            if let failure, state == .delivered { entry.attempts.lastBrokeOff(failure, at: now) }
        }
        set.transition(id, to: .ended(state), now: now)
        // Without an attempt under way the failure is an old one, which the gate knows already. A failure that says nothing about the
        // way (for example a bad certificate) does not delay the next canary.
        guard let failure, let attempt = entry.attempt, failure.shutsGate || failure.evidence == .maybeApplied
        else { return }
        set.learn(
            from: failure, of: (entry.policy, entry.origin, attempt.parentProxyGate), shutsGate: failure.shutsGate,
            isFromCanary: attempt.isCanary, now: now, using: &generator)
    }
}
