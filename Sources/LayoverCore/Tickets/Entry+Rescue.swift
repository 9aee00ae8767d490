extension Entry {
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

extension Failure {
    /// The failure of an attempt whose process is gone.
    fileprivate static let cutOff = Failure(
        phase: .sending, kind: .proxyInternalError, evidence: .maybeApplied,
        message: "The proxy ended during the attempt.")
}
