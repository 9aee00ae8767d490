import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Verdicts on attempts that a person ended.
struct AbortVerdictTests {
    private static let unsent = Failure.fixture(.proxyInternalResponse, phase: .connecting)
    private static let sent = Failure.fixture(
        .proxyInternalResponse, phase: .awaitingResponse, evidence: .maybeApplied, reusedConnection: true)
    private static let kept = Verdict.park(.init(delay: .seconds(1), shutsGate: false, rule: .aborted))
    private static let asks = Verdict.park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied))
    private var generator = SeededGenerator(seed: 1)

    private mutating func verdict(
        on failure: Failure, of method: String, isTicket: Bool, trigger: AttemptTrigger = .dueTime,
        _ change: (inout Policy) -> Void = { _ in }
    ) -> Verdict {
        var rules = AttemptRules(policy: .fixture(change))
        var request = RequestSummary(method: method, body: .captured)
        request.isTicket = isTicket
        _ = rules.attemptStarted(trigger: trigger)
        rules.isAborted = true
        return rules.verdict(on: failure, sending: request, using: &generator)
    }

    @Test(arguments: [true, false])
    mutating func requestThatMayBeSentAgainWaits(isTicket: Bool) {
        for method in ["POST", "PUT"] { #expect(verdict(on: Self.unsent, of: method, isTicket: isTicket) == Self.kept) }
        #expect(verdict(on: Self.sent, of: "PUT", isTicket: isTicket) == Self.kept, "nor is it made again at once")
    }

    @Test mutating func requestThatMayHaveBeenAppliedFollowsItsPolicy() {
        #expect(verdict(on: Self.sent, of: "POST", isTicket: true) == Self.asks)
        #expect(verdict(on: Self.sent, of: "POST", isTicket: true) { $0.onMaybeApplied = .fail } == .fail(.maybeApplied))
        #expect(verdict(on: Self.sent, of: "POST", isTicket: false) == .fail(.maybeApplied))
        #expect(verdict(on: Self.sent, of: "POST", isTicket: false) { $0.onMaybeApplied = .ask } == Self.asks)
    }

    /// An abort keeps the request, whatever `onExhausted` says.
    @Test(arguments: [Policy.ExhaustedRule.fail, .ask])
    mutating func lastAbortedAutomaticAttemptIsUndecided(rule: Policy.ExhaustedRule) {
        let verdict = verdict(on: Self.unsent, of: "POST", isTicket: false, Policy.exhausted(after: 1, rule))
        #expect(verdict == .park(.init(delay: .zero, shutsGate: false, asks: .exhausted, rule: .aborted)))
    }

    // MARK: Mode `offline`

    private static let offline = Verdict.park(.init(delay: .zero, shutsGate: false, rule: .offline))
    private static let stale = Failure.fixture(
        .connectionTerminated, phase: .sending, evidence: .maybeApplied, reusedConnection: true)

    private mutating func verdictOffline(
        on failure: Failure, mode: Policy.Mode = .hold, cuts: Bool = false
    ) -> (verdict: Verdict, uncounted: Int) {
        var rules = AttemptRules(policy: .fixture { $0.mode = mode })
        _ = rules.attemptStarted(trigger: .arrival)
        rules.abandonment = .mode
        rules.isAborted = cuts
        let before = rules.counts.automatic
        let verdict = rules.verdict(on: failure, sending: RequestSummary(method: "GET"), using: &generator)
        return (verdict, before - rules.counts.automatic)
    }

    /// A second attempt on a new connection would start under the mode.
    @Test mutating func attemptWithADeadConnectionUnderModeOfflineWaits() {
        let (verdict, uncounted) = verdictOffline(on: Self.stale)
        #expect(verdict == Self.offline && uncounted == 1)
        let (passed, _) = verdictOffline(on: Self.stale, mode: .pass)
        #expect(passed == .fail(.pass))
    }

    @Test mutating func cutAttemptThatHasSentNothingWaitsAsWithFreeze() {
        let (verdict, uncounted) = verdictOffline(on: Self.unsent, cuts: true)
        #expect(verdict == Self.offline && uncounted == 1)
        let (sent, _) = verdictOffline(on: Self.sent, cuts: true)
        #expect(sent == Self.kept)
    }

    /// Such a request cannot wait.
    @Test mutating func cutAttemptOfAPassedRequestFails() {
        for failure in [Self.unsent, Self.sent] {
            let (verdict, _) = verdictOffline(on: failure, mode: .pass, cuts: true)
            #expect(verdict == .fail(.pass))
        }
    }

    // MARK: The next attempt

    @Test mutating func abortIsForOneAttempt() {
        var rules = AttemptRules(policy: .fixture())
        rules.isAborted = true
        _ = rules.attemptStarted(trigger: .dueTime)
        let get = RequestSummary(method: "GET")
        #expect(rules.verdict(on: .refused, sending: get, using: &generator) == .park(.init(delay: .seconds(1), shutsGate: true)))
    }

    // MARK: Before the start

    @Test mutating func requestThatIsStillBeingReadWaitsAfterAnAbort() {
        var loading = ExchangeMachine(for: .store(.stored), AttemptRules(policy: .fixture { $0.preflight = Preflight() }), phase: .loading)
        loading.attemptInterrupted(by: .command)
        guard case .park(let failure, let parking) = turn(&loading) else {
            Issue.record("the attempt begins")
            return
        }
        #expect(parking.rule == .aborted && failure.evidence == .neverSent && loading.lastFailure == failure)
        guard case .park(_, let offline) = turn(&loading, isOffline: true) else {
            Issue.record("the attempt begins")
            return
        }
        #expect(offline == .init(delay: .zero, shutsGate: false, rule: .offline))
    }

    @Test mutating func onlyATicketIsPrecededByAPreflight() {
        for (holder, skips, step): (ExchangeMachine.Holder, Bool, ExchangeMachine.StartStep) in [
            (.store(.stored), false, .preflight(Preflight())), (.store(.stored), true, .attempt), (.client, false, .attempt),
            (.cache, false, .attempt),
        ] {
            var machine = ExchangeMachine(for: holder, AttemptRules(policy: .fixture { $0.preflight = Preflight() }), phase: .parked)
            #expect(turn(&machine, skipsPreflight: skips) == step)
        }
    }

    @Test mutating func requestThatMayNoLongerBeSentTwiceIsRefusedUnlessForced() {
        let applied = AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true)
        var machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture(), counts: applied), phase: .parked)
        #expect(turn(&machine) == .refuse)
        #expect(turn(&machine, isForced: true) == .attempt)
    }

    /// An attempt that is abandoned may be made anew at once; an aborted one waits, unless nothing was sent and the mode is over.
    @Test func attemptsAreInterruptedByTheirCause() {
        let cases: [(cause: ExchangeMachine.Interruption, isAborted: Bool, isAbandoned: Bool, byMode: Bool)] = [
            (.command, true, false, false), (.networkChange, false, true, false), (.modeWhileConnecting, false, true, true),
            (.modeAtAnyTime, true, true, true),
        ]
        for (cause, isAborted, isAbandoned, byMode) in cases {
            var machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture()))
            machine.attemptInterrupted(by: cause)
            #expect(machine.attempts.isAborted == isAborted && machine.attempts.isAbandoned == isAbandoned, "\(cause)")
            #expect(machine.attempts.isAbandonedByMode == byMode, "\(cause)")
        }
    }

    private mutating func turn(
        _ machine: inout ExchangeMachine, isForced: Bool = false, isOffline: Bool = false, skipsPreflight: Bool = false
    ) -> ExchangeMachine.StartStep {
        machine.turnCame(
            isForced: isForced, isOffline: isOffline, skipsPreflight: skipsPreflight,
            sending: RequestSummary(method: "POST", body: .captured), using: &generator)
    }

    /// The failure becomes an abort by a person, whatever its kind was; its evidence stays.
    @Test mutating func failureOfAnAbortedAttemptIsOurs() {
        var machine = ExchangeMachine(for: .store(.unstored), AttemptRules(policy: .fixture()), phase: .parked)
        _ = machine.startAttempt(.dueTime, at: .at(.seconds(1)))
        machine.attemptInterrupted(by: .command)
        let step = machine.attemptFailed(
            .fixture(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied),
            in: .init(
                request: RequestSummary(method: "POST", body: .captured), network: .init(), now: .at(.seconds(2))),
            using: &generator)
        guard case .park(let failure, let parking) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(parking.asks == .maybeApplied)
        #expect(failure.kind == .proxyInternalResponse && failure.kind.recommendedStatus == 502)
        #expect(failure.phase == .awaitingResponse && failure.evidence == .maybeApplied)
        #expect(failure.message == "A person aborted the attempt.")
    }
}
