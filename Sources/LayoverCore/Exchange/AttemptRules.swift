import Retry

/// How many attempts an exchange has made, and the verdict on each outcome.
///
/// The first attempt and every replay are judged alike, for every recipient. Other exchanges are unknown here: when a
/// parked one may go is decided by the `PendingSet`. Contract: section 2 of the semantics.
package struct AttemptRules: Sendable {
    /// A reload of the configuration may give it another one.
    package internal(set) var policy: Policy
    package private(set) var counts: AttemptCounts

    /// Whether the last attempt was made on a new connection because a kept-alive one had died.
    var hasTriedNewConnection = false
    /// Why Layover abandoned the attempt under way, to make it again. Nil: it did not.
    var abandonment: Abandonment?
    /// Whether a person ended the attempt under way.
    var isAborted = false
    /// Whether a person took the risk that the attempt under way acts twice.
    package internal(set) var isForced = false
    /// Whether the proxy is being stopped and cuts off what is under way. A ticket is left as the next process is to
    /// find it.
    var isStopping = false
    private var lastTrigger = AttemptTrigger.arrival
    /// Attempts before the count for the delay began.
    private var earlierCount = 0

    /// - Parameter counts: What was done for the request before.
    package init(policy: Policy, counts: AttemptCounts = AttemptCounts()) {
        self.policy = policy
        self.counts = counts
    }

    enum Abandonment: Sendable {
        /// The network changed while the attempt was connecting.
        case networkChange
        /// A person set the mode `offline`.
        case mode
    }

    /// Whether Layover abandoned the attempt under way, to make it again.
    package var isAbandoned: Bool { abandonment != nil }

    /// Whether a person set the mode `offline` during the attempt under way.
    package var isAbandonedByMode: Bool { abandonment == .mode }

    /// Attempts made so far.
    package var attemptCount: Int { counts.all }

    /// Attempts by which the delay grows.
    private var delayCount: Int { counts.all - earlierCount }

    /// So much of the response has come that the next break counts as the first.
    package mutating func startOver() {
        earlierCount = max(0, counts.all - 1)
        counts.automatic = min(counts.automatic, 1)
    }

    /// Automatic attempts that are left; nil means no limit.
    package var automaticLeft: Int? {
        policy.automaticAttemptsMax.map { max(0, $0 - counts.automatic) }
    }

    /// Counts an attempt that starts now and returns its number, from 1.
    package mutating func attemptStarted(trigger: AttemptTrigger) -> Int {
        counts.all += 1
        abandonment = nil
        isAborted = false
        lastTrigger = trigger
        // mutant: tireless
        if trigger.isAutomatic { counts.automatic += 1 }
        return counts.all
    }

    /// The attempt under way is interrupted. An earlier command stays in force.
    mutating func interrupted(by cause: ExchangeMachine.Interruption) {
        switch cause {
        case .command: isAborted = true
        case .networkChange: abandonment = .networkChange
        case .modeWhileConnecting: abandonment = .mode
        case .modeAtAnyTime:
            isAborted = true
            abandonment = .mode
        }
    }

    /// Counts sendings that libcurl made on its own within the current attempt. Each earlier one broke without a response, and none
    /// was refused: a refused stream is not sent again.
    package mutating func sentAgainWithinAttempt(_ count: Int) {
        counts.mayHaveBeenApplied = true
        counts.all += count
        counts.automatic += count
    }

    /// Notes that the proxy's own store stopped the attempt under way. Where nothing of it was sent it was none at the
    /// origin, and does not count.
    package mutating func stoppedByStore(_ evidence: Evidence) {
        guard evidence == .neverSent else {
            counts.mayHaveBeenApplied = true
            return
        }
        counts.all -= 1
        if lastTrigger.isAutomatic { counts.automatic -= 1 }
    }

    // MARK: Failures

    /// The attempt was cut off after a byte had left, and nobody waits for its outcome.
    package mutating func wasCutOffSending() { counts.mayHaveBeenApplied = true }

    /// Decides what follows a failed attempt. Rows of the contract's table, top to bottom.
    ///
    /// - Parameters:
    ///   - network: That of the moment of the failure.
    ///   - generator: Source of jitter. Tests pass a seeded one.
    package mutating func verdict(
        on failure: Failure, sending request: RequestSummary, network: NetworkCondition = .init(),
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        // Past the head there is no going back: the client has begun to read.
        if failure.evidence == .answered { return .fail(.responseBegan) }
        // mutant: evidence-forgotten
        if failure.evidence == .maybeApplied { counts.mayHaveBeenApplied = true }
        // mutant: thrown-away
        if isStopping, request.isTicket { return leave(request, after: failure, delay: .zero, rule: .stopping) }
        let isPassed = policy.mode == .pass && !request.isTicket
        if isAborted, !isPassed, !isAbandonedByMode || failure.evidence != .neverSent {
            return verdictOnAbort(failure, sending: request, using: &generator)
        }
        // Also while its body is arriving, of which every byte is kept: libcurl would do the same of its own accord.
        if failure.isStaleConnection, request.mayBeSentTwice, request.canBeSentFromTheStart, !hasTriedNewConnection, !isBeyondLimit {
            // No attempt starts under mode `offline`.
            if !isAbandonedByMode { return .againOnNewConnection }
            if !isPassed { return parkAfterAbandoning() }
        }
        if isPassed { return .fail(.pass) }
        if isAbandoned, failure.evidence == .neverSent, request.canBeSentFromTheStart {
            // Whatever it failed with says nothing: it was cut off by us, or on a network that is no more.
            // mutant: forced-and-lost
            guard mayBeSent(request) else { return verdictOnRisk(request, failure) }
            return parkAfterAbandoning()
        }
        if request.isTicket, failure.isOurOwn {
            return leave(request, after: failure, delay: Self.ownTroubleDelay, rule: .ownTrouble)
        }
        // An administrator has to mend the configuration, maybe that of a proxy behind the parent proxy. Nobody sends the request again
        // meanwhile.
        if request.isTicket, failure.kind == .parentProxyMisconfigured || failure.isLoopOfParentProxies, failure.evidence == .neverSent {
            return leave(request, after: failure, delay: nextDelay(using: &generator), rule: .ownTrouble)
        }
        if network.isBehindPortal, failure.kind == .tlsCertificateError, failure.evidence == .neverSent {
            return verdictOnRetriable(failure, sending: request, as: .portal, using: &generator)
        }
        guard policy.retryOn.contains(where: { $0.matches(failure) }) else {
            let asks = request.isTicket && failure.evidence == .maybeApplied && policy.maybeAppliedRule(isTicket: true) == .ask
            return asks ? ask(.maybeApplied, .onMaybeApplied, failure) : .fail(.notInRetryOn)
        }
        // A client is told at once that a name does not exist; a ticket waits, because the name may be created.
        if failure.isNameUnknown, !network.isAway, !request.isTicket { return .fail(.nameUnknown) }
        return verdictOnRetriable(failure, sending: request, using: &generator)
    }

    /// True if the attempt under way is one above the limit already, because a kept-alive connection had died. If its connection was a
    /// dead one too, no second attempt above the limit follows.
    private var isBeyondLimit: Bool {
        lastTrigger.isAutomatic && policy.automaticAttemptsMax.map { counts.automatic > $0 } == true
    }

    /// After how long a ticket is tried again when the proxy itself was in its way. Default: 5 s.
    private static let ownTroubleDelay: Duration = .seconds(5)

    /// Verdict on a ticket whose attempt failed because of Layover. An automatic attempt that sent nothing does not count.
    private mutating func leave(
        _ request: RequestSummary, after failure: Failure, delay: Duration, rule: Verdict.ParkingRule
    ) -> Verdict {
        guard mayBeSent(request) else { return ask(.maybeApplied, rule, failure) }
        if failure.evidence == .neverSent, lastTrigger.isAutomatic { counts.automatic -= 1 }
        return .park(.init(delay: delay, shutsGate: false, rule: rule))
    }

    /// What follows an attempt that a person ended: it waits as after any failure, but whatever it failed with says nothing about the
    /// origin, and it is kept even without an automatic attempt left.
    private func verdictOnAbort(
        _ failure: Failure, sending request: RequestSummary, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        if let verdict = verdictOnRepetition(of: request, after: failure) { return verdict }
        if automaticLeft == 0 { return ask(.exhausted, .aborted, failure) }
        return .park(parkingAfterAbort(using: &generator))
    }

    package func parkingAfterAbort(using generator: inout some RandomNumberGenerator) -> Verdict.Parking {
        .init(
            delay: policy.delay.delay(afterAttempt: max(1, delayCount), using: &generator), shutsGate: false, rule: .aborted)
    }

    /// The attempt does not count, and is made again at once, or when the mode ends.
    private mutating func parkAfterAbandoning() -> Verdict {
        if lastTrigger.isAutomatic { counts.automatic -= 1 }
        return .park(.init(delay: .zero, shutsGate: false, rule: isAbandonedByMode ? .offline : .networkChanged))
    }

    /// The verdict on a failure if another attempt must not, or cannot, be made; nil if one may be made.
    private func verdictOnRepetition(of request: RequestSummary, after failure: Failure) -> Verdict? {
        guard request.canBeSentFromTheStart else {
            return .fail(failure.evidence == .neverSent || request.mayBeSentTwice ? .bodyNotReplayable : .maybeApplied)
        }
        guard !mayBeSent(request) else { return nil }
        return request.mayBeSentTwice ? .fail(.bodyNotReplayable) : verdictOnRisk(request, failure)
    }

    private func verdictOnRetriable(
        _ failure: Failure, sending request: RequestSummary, as rule: Verdict.ParkingRule = .retryOn,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        if let verdict = verdictOnRepetition(of: request, after: failure) { return verdict }
        if automaticLeft == 0 {
            switch policy.onExhausted {
            case .fail: return .fail(.exhausted)
            case .ask: return ask(.exhausted, .onExhausted, failure)
            case .standIn(let response): return .standIn(response)
            }
        }
        let wait = failure.retryAfter.flatMap { $0 <= policy.retryAfterMax ? $0 : nil }
        let delay = nextDelay(atLeast: wait ?? .zero, using: &generator)
        return .park(.init(delay: delay, shutsGate: failure.shutsGate, rule: rule, retryAfter: wait))
    }

    /// Delay of the policy before the next attempt.
    ///
    /// - Parameter wait: The wait that the other side asks for.
    private func nextDelay(atLeast wait: Duration = .zero, using generator: inout some RandomNumberGenerator) -> Duration {
        max(policy.delay.delay(afterAttempt: delayCount, using: &generator), wait)
    }

    /// Decides what follows a status that is no continuation of a response, but asks to come later.
    package mutating func verdictOnContinuation(
        _ failure: Failure, sending request: RequestSummary, retryAfter: Duration?,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        let wait = retryAfter ?? .zero
        guard wait <= policy.retryAfterMax else { return .fail(.responseBegan) }
        let verdict = verdictOnRetriable(failure, sending: request, using: &generator)
        guard case .park(var parking) = verdict else { return verdict }
        parking.delay = max(parking.delay, wait)
        return .park(parking)
    }

    /// The verdict on a request that may have been applied, and must not act twice.
    private func verdictOnRisk(_ request: RequestSummary, _ failure: Failure) -> Verdict {
        guard policy.maybeAppliedRule(isTicket: request.isTicket) == .ask else { return .fail(.maybeApplied) }
        return ask(.maybeApplied, .onMaybeApplied, failure)
    }

    /// Decides what follows a response to a repetition that does not show whether an earlier attempt was applied. The response itself
    /// is never delivered: its client would take it for the outcome.
    ///
    /// - Parameter isConflict: Whether the origin wants the request repeated (`ConflictCode`).
    package mutating func verdict(
        onUnknown response: ResponseSummary, isConflict: Bool, sending request: RequestSummary,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        let wait = response.retryAfter ?? .zero
        let isRetried = isConflict || policy.retryOn.match(status: response.status)
        let mayRetry = policy.mode != .pass || request.isTicket
        if isRetried, mayRetry, request.isRepeatable, !response.forbidsRetry, wait <= policy.retryAfterMax, automaticLeft != 0 {
            return .park(.init(delay: nextDelay(atLeast: wait, using: &generator), shutsGate: false, rule: .outcomeUnknown))
        }
        guard policy.maybeAppliedRule(isTicket: request.isTicket) == .ask else { return .fail(.outcomeUnknown) }
        return .park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .outcomeUnknown))
    }

    /// Whether sending it once more can act at most once upstream, or does no harm by acting twice:
    /// RFC 9110 section 9.2.2 forbids a proxy anything else.
    package func mayBeSent(_ request: RequestSummary) -> Bool {
        // mutant: sent-twice
        counts.mayHaveBeenApplied ? request.isRepeatable : request.canBeSentFromTheStart
    }

    private func ask(_ reason: UndecidedReason, _ rule: Verdict.ParkingRule, _ failure: Failure) -> Verdict {
        .park(.init(delay: .zero, shutsGate: failure.shutsGate, asks: reason, rule: rule))
    }

    // MARK: Responses

    /// How long all requests of the policy stay away after a response; nil if they do not pause.
    package func pause(after response: ResponseSummary) -> Duration? {
        guard policy.pausesOrigins, policy.retryOn.match(status: response.status) else { return nil }
        return response.retryAfter.flatMap { $0 > .zero && $0 <= policy.retryAfterMax ? $0 : nil }
    }

    /// Decides whether a response is delivered or asked for again.
    package mutating func verdict(
        on response: ResponseSummary, sending request: RequestSummary, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard policy.mode != .pass, policy.retryOn.match(status: response.status) else { return .deliver(.answered) }
        // A limiter refuses before it processes (RFC 6585 section 4): nothing was done that another sending could double.
        // mutant: every-status-refuses
        let wasRefused = response.status == 429 && !counts.mayHaveBeenApplied
        guard request.isRepeatable || wasRefused && request.isWhole else { return .deliver(.notRepeatable) }
        // With any other status the origin may have acted on it.
        if !wasRefused { counts.mayHaveBeenApplied = true }
        if response.forbidsRetry { return .deliver(.originForbids) }
        if let retryAfter = response.retryAfter, retryAfter > policy.retryAfterMax {
            return .deliver(.retryAfterMax)
        }
        if automaticLeft == 0 {
            switch policy.onExhausted {
            case .fail: return .deliver(.exhausted)
            case .ask:
                return .park(
                    .init(delay: .zero, shutsGate: false, asks: .exhausted, rule: .onExhausted, retryAfter: response.retryAfter))
            case .standIn(let response): return .standIn(response)
            }
        }
        let delay = nextDelay(atLeast: response.retryAfter ?? .zero, using: &generator)
        return .park(.init(delay: delay, shutsGate: false, rule: .status, retryAfter: response.retryAfter))
    }
}
