extension Entry {
    package var state: EntryState {
        switch fullState {
        case .waiting: .waiting
        case .attempting: .attempting
        case .held: .held
        case .undecided: .undecided
        case .ended(let state): state
        }
    }

    /// Why it is undecided.
    package var why: UndecidedReason? { if case .undecided(let why) = fullState { why } else { nil } }
    /// The attempt under way.
    var attempt: Attempt? { if case .attempting(let attempt) = fullState { attempt } else { nil } }
    /// The reason why a waiting entry may go; nil: it may not.
    var eligibleBy: AttemptTrigger? { if case .waiting(.eligible(let trigger)) = fullState { trigger } else { nil } }
    /// Since when its attempt is under way; nil where there is none.
    package var attemptStartedAt: Timestamp? { attempt?.startedAt }
    /// How far the attempt under way has got; nil where there is none.
    package var attemptProgress: AttemptProgress? {
        guard let attempt else { return nil }
        var progress = progress ?? AttemptProgress()
        if attempt.isAnswered { progress.phase = .receiving }
        return progress
    }
    var isBlocked: Bool { if case .waiting(.blocked) = fullState { true } else { false } }
    var isHeldByClient: Bool {
        switch owner {
        case .client, .clientUntilStored: true
        case .store, .cache, .nobody, .others: false
        }
    }

    package var wish: PolicyWish { ticket?.wish ?? heldWish ?? PolicyWish() }

    /// Whether it brings the cache up to date.
    var isRefresh: Bool { if case .cache = owner { true } else { false } }

    /// Whether its client is gone, and its attempt goes on only so that its outcome is known.
    package var isUnattended: Bool {
        switch owner {
        case .nobody, .others: true
        case .client, .clientUntilStored, .store, .cache: false
        }
    }

    /// Whether it goes on past its time, because others with its key wait for its outcome.
    package var isAwaitedByOthers: Bool { if case .others = owner { true } else { false } }

    var isBeingStored: Bool { if case .clientUntilStored = owner { true } else { false } }

    /// Whether a person asked for an attempt that is still to be made, or is under way.
    var isAttemptAskedFor: Bool {
        switch fullState {
        case .waiting(.eligible(.admin)), .waiting(.blocked(isAskedFor: true)): true
        case .attempting(let attempt): attempt.isAskedFor
        case .waiting, .held, .undecided, .ended: false
        }
    }

    /// Whether its body is so big that it must not take all the room of its origin.
    var isBig: Bool { requestByteCount > OriginState.bigByteCount }

    /// Whether sending it twice does no harm: by its own nature, or by the word of its policy as that is now.
    package var isRepeatable: Bool {
        Repeatability(method: method, origin: origin, hasIdempotencyKey: hasIdempotencyKey, policy: policy).mayBeSentTwice
    }

    /// Whether sending it once more might act twice, and neither a person nor a policy has taken that risk.
    var isRisky: Bool { mayHaveBeenApplied && !isForced && !isRepeatable }

    /// Whether a verdict lets another attempt follow although no automatic attempt is left.
    func isExhausted(after parking: Verdict.Parking) -> Bool { automaticLeft == 0 && parking.needsAttemptLeft }

    /// Why the present policy has the response in hand delivered, although an older one let another attempt follow. Nil: it does not.
    func deliverReason(after parking: Verdict.Parking) -> Verdict.DeliverReason? {
        if isRisky { return .notRepeatable }
        guard policy.onExhausted == .fail else { return nil }
        // The response to a repetition does not show the outcome, so it is not for the client.
        return parking.rule != .outcomeUnknown && isExhausted(after: parking) ? .exhausted : nil
    }

    /// True if the entry waits in an outage, or is undecided because of one. An entry without an attempt is undecided because others of
    /// its outage are.
    var isOfOutage: Bool { lastFailure?.shutsGate ?? (why == .exhausted) }

    /// The kind of incident to which it belongs after a restart; nil if to none.
    var lastIncidentKind: Incident.Kind? {
        switch fullState {
        case .waiting where isOfOutage, .held where isOfOutage, .undecided(.exhausted): .outage
        case .undecided: .decision
        case .waiting, .held, .attempting, .ended: nil
        }
    }

    /// Whether reachability ends its wait.
    // mutant: impatient-status
    var isWokenByReachability: Bool { policy.wakeOnReachable && waitEnd != .status }

    /// Whether the opening of the gate ends its wait.
    var isWokenByOrigin: Bool { policy.wakeOnReachable && waitEnd == .origin }

    /// The time at which even an attempt under way is ended. `holdMax`, or an earlier deadline that a person set, limits only the wait.
    /// If the client is gone and the request became no ticket, nobody needs the response, so the attempt ends at `expiresAt`.
    var lifetimeEnd: Timestamp {
        if isHeldByNoClient { return expiresAt }
        return max(expiresAt, parkedAt + policy.lifetime)
    }

    /// Whether its client is gone, and the store did not take it as a ticket.
    var isHeldByNoClient: Bool { if case .client = owner { !client.isConnected } else { false } }

    /// Whether it is still wanted at a time, by its client or as a ticket.
    func canWait(until time: Timestamp) -> Bool {
        if case .client(.none) = owner { expiresAt >= time } else { true }
    }

    /// When its time is over once it is a ticket.
    var ticketDeadline: Timestamp { hasOwnDeadline ? expiresAt : parkedAt + policy.lifetime }

    /// Whether nothing says that the credentials it carries are past their time.
    ///
    /// Past it only a person can have it sent, who may know better.
    func hasGoodCredentials(at now: Timestamp) -> Bool { ticket?.notAfter.map { now < $0 } ?? true }

    /// The commands that are allowed now.
    package var actions: [EntryCommand] {
        switch fullState {
        case .waiting: [.retry, .cancel, .hold, .settle]
        // Past the head of its response there is no going back for a client that reads it.
        case .attempting(let attempt): attempt.isAnswered && isHeldByClient ? [.cancel] : [.cancel, .abort]
        case .held: [.retry, .cancel, .release, .settle]
        // mutant: retry-is-force
        case .undecided(let why): why == .maybeApplied ? [.force, .cancel, .settle] : [.retry, .cancel, .settle]
        case .ended: []
        }
    }

    /// About so many bytes of memory, for limits: what it holds in a row and the texts and attempts beside it.
    package var memoryByteCount: Int {
        let texts = [url, foldedTarget, lane, client.userAgent, lastFailure?.message, lastCommand?.reason, settledBy?.outcome.note]
            .reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return MemoryLayout<Entry>.size + texts + attempts.records.count * (MemoryLayout<AttemptRecord>.stride + 128)
            + (ticket?.parents.count ?? 0) * MemoryLayout<EntryID>.stride
    }

    /// Since when it waits because of the outage that its last failure speaks of, as far as its timeline goes back.
    var outageBeganAt: Timestamp {
        let run = attempts.records.reversed().prefix { $0.failure?.shutsGate == true }
        return run.last.map { $0.endedAt ?? $0.startedAt } ?? lastFailureAt ?? parkedAt
    }

    // MARK: What depends on others

    package var waitingFor: WaitReason? { outlook?.waitingFor }
    /// When it goes by itself, if nothing else happens before. Nil: not while things stand as they are.
    package var nextAttemptAt: Timestamp? { outlook?.nextAttemptAt }
    /// When the attempt that a person asked for is made.
    package var willGo: WillGo? { outlook?.willGo }
    /// The entry that has to be done before it.
    package var waitingOn: EntryID? { outlook?.waitingOn }
    /// Its parent proxy, if that cannot be reached.
    package var shutParentProxyGate: Origin? { outlook?.shutParentProxyGate }
    /// How far the attempt under way has got; nil where it is not known.
    package var progress: AttemptProgress? {
        get { outlook?.progress }
        set {
            var changed = outlook ?? Outlook()
            changed.progress = newValue
            outlook = changed
        }
    }
}

// MARK: Its end

extension Entry {
    /// What cancelled an entry.
    package enum CancelCause: Sendable, Hashable {
        case command(CommandRecord)
        /// The response to the question that was asked first.
        case preflight
        /// Its client disconnected, and it could not go on without it.
        case notAdopted(AdoptionObstacle)
        /// A newer request took its place.
        case superseded(by: EntryID)
        /// The proxy was being stopped.
        case stopped
        /// Its client disconnected, and its attempt went on as long as it might.
        case unattended
        /// Its client disconnected.
        case clientLeft
        /// A ticket that an earlier version cancelled: that kept no cause.
        case unknown
    }

    /// What cancelled it; nil where it is not cancelled.
    package var cancelCause: CancelCause? {
        guard state == .cancelled else { return nil }
        // No command follows a cancellation, so the last one is the cause.
        if let lastCommand, lastCommand.name == .cancel { return .command(lastCommand) }
        if attempts.records.last?.verdict == .fail(.preflight) { return .preflight }
        if let adoptionObstacle { return .notAdopted(adoptionObstacle) }
        if let supersededBy { return .superseded(by: supersededBy) }
        if isStopped { return .stopped }
        if isUnattended { return .unattended }
        return ticket == nil ? .clientLeft : .unknown
    }

    /// The status of the response that was delivered, or that came after the client had disconnected; nil if there was no response, or if
    /// a person settled the request.
    package var deliveredStatus: Int? {
        if isUnattended { return attempts.records.last?.status }
        guard state == .delivered, settledBy == nil else { return nil }
        // The client has seen the status of the first response; other responses brought the rest.
        if resume != nil { return 200 }
        return ticket?.status ?? attempts.records.last?.status
    }

    /// Whether it ends because the proxy is being stopped. A refresh has no client that could leave: it is cancelled only then.
    var isStopped: Bool { if case .cache = owner { true } else { wasStopped } }
}

/// Why a request cannot go on without its client, though its policy says so (`clientGone: adopt`): a request that is sent
/// later needs all of its body.
package enum AdoptionObstacle: String, Sendable, Hashable, CaseIterable {
    /// The body of the request is longer than `limits.bodyMax`.
    case bodyTooLong
    /// The body could not be kept: the disk, or `limits.spoolTotal`, had no room for it.
    case bodyNotStored

    /// The clause to write after "because".
    package var clause: String {
        switch self {
        case .bodyTooLong: "its body exceeds limits.bodyMax"
        case .bodyNotStored: "its body could not be stored: the disk is full or limits.spoolTotal is reached"
        }
    }
}

extension Entry: ListedEntry {
    package var policyName: String { policy.name }
    package var isTicket: Bool { ticket != nil }
    package var openIncident: IncidentID? { state.isFinal ? nil : incident }
    package func isFound(by search: EntrySearch) -> Bool { search.finds(self) }
}
