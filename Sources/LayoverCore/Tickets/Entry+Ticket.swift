extension Entry {
    /// The entry of a ticket that an earlier run kept.
    init(_ record: TicketRecord, policy: SharedPolicy) {
        self.init(
            request: record.request, standing: record.standing, fullState: State(record), sharedPolicy: policy,
            automaticLeft: policy.policy.automaticAttemptsMax.map { max(0, $0 - record.counts.automatic) },
            isBodyReplayable: true, ticket: record.ticket, sequence: record.sequence,
            waitEnd: record.lastFailure?.shutsGate == true ? .origin : .time, owner: .store)
        isNeverSent = !record.mayHaveBeenApplied && (record.lastFailure?.evidence ?? .neverSent) == .neverSent
        foldTarget()
    }

    /// The same with the whole URL, which its record has.
    package func withURL(of record: TicketRecord) -> Entry {
        var entry = self
        entry.request.url = record.url
        entry.request.isURLInStore = false
        return entry
    }

    /// A ticket that ended so long ago, or in an earlier run, that only its record is left.
    ///
    /// - Parameter policy: The one that it would have now.
    package static func ended(_ record: TicketRecord, policy: Policy) -> Entry {
        Entry(record, policy: SharedPolicy(policy))
    }

    /// Makes of a ticket that was found `attempting` one that waits, or that a person decides about: the process that
    /// made its attempt ended before it could write down what came of it, so it may have been applied.
    ///
    /// The attempt gets its line in the timeline: begun when it was due, as far as is known, and over when it was found.
    ///
    /// - Parameter wasAskedFor: Whether a person asked for that attempt.
    mutating func rescue(wasAskedFor: Bool, now: Timestamp) {
        let verdict = Verdict.park(
            .init(delay: .zero, shutsGate: false, asks: isRepeatable ? nil : .maybeApplied, rule: .rescued))
        var record = cutOffAttempt(by: wasAskedFor ? .admin : nil, now: now)
        record.endedAt = now
        record.failure = .cutOff
        record.verdict = verdict
        attempts.cutOff(record)
        lastFailure = .cutOff
        lastFailureAt = now
        // mutant: rescued-as-waiting
        fullState = !isRepeatable ? .undecided(.maybeApplied) : isHeldBack ? .held : .waiting(.due)
        // The word of a person was for this attempt.
        isForced = false
        isNeverSent = false
        // mutant: rescued-as-waiting.2
        counts.mayHaveBeenApplied = true
        dueAt = now
    }

    /// The attempt that was under way. It was counted when its note was made; where a later change of the ticket took that
    /// back, it is counted now.
    ///
    /// - Parameter trigger: Nil where no person asked for it. Which of the automatic ones it was is not on disk.
    private mutating func cutOffAttempt(by trigger: AttemptTrigger?, now: Timestamp) -> AttemptRecord {
        let last = attempts.records.last
        // The response of this attempt had begun, and was written down already.
        if let last, last.number == counts.all, last.failure == nil { return last }
        let number = max(counts.all, (last?.number ?? 0) + 1)
        if number > counts.all {
            counts.all = number
            if trigger == nil {
                counts.automatic += 1
                automaticLeft = automaticLeft.map { max(0, $0 - 1) }
            }
        }
        let began = max(dueAt, lastFailureAt ?? parkedAt)
        return AttemptRecord(
            number: number, trigger: trigger ?? (number == 1 ? .arrival : .dueTime), startedAt: min(began, now))
    }
}

extension Entry.State {
    fileprivate init(_ record: TicketRecord) {
        switch record.state {
        case .waiting: self = .waiting(.due)
        case .attempting: self = .attempting(.init())
        case .held: self = .held
        case .undecided: self = .undecided(record.why ?? .maybeApplied)
        case .delivered, .cancelled, .expired, .failed: self = .ended(record.state)
        }
    }
}
