import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// Verdicts after the last automatic attempt, after a failure that may have been applied, and on an unknown name.
struct ExhaustedVerdictTests {
    private let post = RequestSummary(method: "POST", body: .captured)
    private static let standIn = StandInResponse(status: 203, body: "{}")
    private var generator = SeededGenerator(seed: 1)

    /// The verdict after so many automatic attempts.
    private mutating func verdict(
        on failure: Failure, sending request: RequestSummary = .init(method: "GET"), after attempts: Int = 1,
        network: NetworkCondition = .init(), _ change: (inout Policy) -> Void = { _ in }
    ) -> Verdict {
        var exchange = AttemptRules(policy: .fixture(change))
        for _ in 0..<attempts { _ = exchange.attemptStarted(trigger: .dueTime) }
        return exchange.verdict(on: failure, sending: request, network: network, using: &generator)
    }

    // MARK: exhausted on a failure

    /// S2a and S4c: at most n attempts, the first included.
    @Test(arguments: 1...5)
    mutating func s2aAttemptsStopAtTheMaximum(max: Int) {
        for attempts in 1...6 {
            let verdict = verdict(on: .refused, after: attempts) { $0.automaticAttemptsMax = max }
            #expect((verdict == .fail(.exhausted)) == (attempts >= max), "after \(attempts)")
        }
    }

    /// S2b: after n failures it ends in success with a stand-in value.
    @Test mutating func s2bExhaustedEndsInTheStandIn() {
        for (attempts, expected) in [(1, nil), (2, Self.standIn), (3, Self.standIn)] {
            let verdict = verdict(on: .refused, after: attempts, Policy.exhausted(after: 2, .standIn(Self.standIn)))
            if let expected { #expect(verdict == .standIn(expected)) } else { #expect(verdict.word == "park") }
        }
    }

    @Test mutating func exhaustedRequestBecomesUndecidedAndShutsTheGate() {
        for (failure, shutsGate) in [(Failure.refused, true), (.reset, false)] {
            let verdict = verdict(on: failure, after: 4, Policy.exhausted(after: 4, .ask))
            #expect(verdict == .park(.init(delay: .zero, shutsGate: shutsGate, asks: .exhausted, rule: .onExhausted)))
        }
    }

    /// S2c: the preset makes three retries, three seconds apart.
    @Test mutating func s2cThePresetTriesThreeTimesThreeSecondsApartAndThenAsks() {
        var exchange = AttemptRules(policy: .ask)
        var verdicts: [Verdict] = []
        for attempt in 1...5 {
            _ = exchange.attemptStarted(trigger: attempt == 1 ? .arrival : attempt == 5 ? .admin : .dueTime)
            verdicts.append(exchange.verdict(on: .refused, sending: .init(method: "GET"), using: &generator))
        }
        let waits = Verdict.park(.init(delay: .seconds(3), shutsGate: true))
        let asks = Verdict.park(.init(delay: .zero, shutsGate: true, asks: .exhausted, rule: .onExhausted))
        #expect(verdicts == [waits, waits, waits, asks, asks])
        #expect(exchange.automaticLeft == 0)
    }

    @Test mutating func failureNotInRetryOnEndsExhaustedOrNot() {
        let certificate = Failure.fixture(.tlsCertificateError, phase: .securing)
        for rule in [Policy.ExhaustedRule.fail, .ask, .standIn(Self.standIn)] {
            #expect(verdict(on: certificate, after: 9, Policy.exhausted(after: 1, rule)) == .fail(.notInRetryOn))
        }
    }

    // MARK: failure, maybeApplied, not repeatable → `onMaybeApplied`

    @Test mutating func requestThatMayHaveBeenAppliedFailsUnlessThePolicyAsks() {
        #expect(verdict(on: .reset, sending: post) == .fail(.maybeApplied))
        #expect(verdict(on: .reset, sending: post) { $0.onMaybeApplied = .fail } == .fail(.maybeApplied))
        #expect(
            verdict(on: .reset, sending: post) { $0.onMaybeApplied = .ask }
                == .park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied)))
    }

    /// Nobody could send it anyway.
    @Test(arguments: [RequestSummary.Body.lost, .brokenOff])
    mutating func requestWithALostBodyIsNotUndecided(body: RequestSummary.Body) {
        let post = RequestSummary(method: "POST", body: body)
        #expect(verdict(on: .reset, sending: post) { $0.onMaybeApplied = .ask } == .fail(.maybeApplied))
        let put = RequestSummary(method: "PUT", body: body)
        #expect(verdict(on: .reset, sending: put) { $0.onMaybeApplied = .ask } == .fail(.bodyNotReplayable))
    }

    // MARK: Stickiness

    /// A POST that may have been applied never goes again by itself, whatever its later attempts prove.
    @Test(arguments: Seeds.row(300))
    mutating func unrepeatableRequestStaysMaybeAppliedForAllLaterAttempts(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        let policy = Policy.fixture {
            $0.onMaybeApplied = .ask
            $0.retryOn = [.connectivity, .status(503)]
            if Bool.random(using: &generator) { $0.automaticAttemptsMax = 5 }
        }
        var exchange = AttemptRules(policy: policy)
        let failures = [
            Failure.refused, .reset, .fixture(.dnsError, phase: .resolving),
            .fixture(.connectionTerminated, phase: .sending),
            .fixture(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied, reusedConnection: true),
            .fixture(.tlsCertificateError, phase: .securing),
        ]
        var mayHaveBeenApplied = false
        for _ in 0..<20 {
            _ = exchange.attemptStarted(trigger: mayHaveBeenApplied ? .admin : .dueTime)
            exchange.abandonment = Int.random(in: 0..<4, using: &generator) == 0 ? .networkChange : nil
            guard let failure = failures.randomElement(using: &generator) else { return }
            if failure.evidence == .maybeApplied { mayHaveBeenApplied = true }
            let verdict = exchange.verdict(
                on: failure, sending: post, network: .init(isAway: Bool.random(using: &generator)), using: &generator)
            #expect(exchange.counts.mayHaveBeenApplied == mayHaveBeenApplied, "LAYOVER_TEST_SEED=\(seed)")
            guard mayHaveBeenApplied else { continue }
            switch verdict {
            case .park(let parking): #expect(parking.asks == .maybeApplied, "LAYOVER_TEST_SEED=\(seed)")
            case .fail: break
            case .againOnNewConnection, .deliver, .standIn: Issue.record("LAYOVER_TEST_SEED=\(seed): \(verdict)")
            }
        }
        // A retried response does not change the verdict either.
        #expect(exchange.verdict(on: .init(status: 503), sending: post, using: &generator) == .deliver(.notRepeatable))
    }

    @Test mutating func neverSentFailureBeforeMaybeAppliedIsParked() {
        var exchange = AttemptRules(policy: .fixture { $0.onMaybeApplied = .ask })
        var words: [String] = []
        for failure in [Failure.refused, .refused, .reset, .refused] {
            _ = exchange.attemptStarted(trigger: .dueTime)
            words.append(exchange.verdict(on: failure, sending: post, using: &generator).rule)
        }
        #expect(words == ["retryOn", "retryOn", "onMaybeApplied", "onMaybeApplied"])
    }

    // MARK: A name that nobody knows

    private static let unknown = Failure(
        phase: .resolving, kind: .dnsError, evidence: .neverSent, message: "No such name.", isNameUnknown: true)

    @Test mutating func unknownHostNameFailsWhileTheNetworkIsUp() {
        #expect(verdict(on: Self.unknown) == .fail(.nameUnknown))
        #expect(verdict(on: Self.unknown, network: .init(isAway: true)) == .park(.init(delay: .seconds(1), shutsGate: true)))
        // A resolver that does not answer says nothing about the name.
        let silent = Failure.fixture(.dnsError, phase: .resolving)
        #expect(verdict(on: silent) == .park(.init(delay: .seconds(1), shutsGate: true)))
    }

    // MARK: A captive portal

    /// HTTPS.md: never parked unless the monitor says captive portal.
    @Test mutating func certificateErrorIsParkedOnlyBehindACaptivePortal() {
        let failure = Failure.fixture(.tlsCertificateError, phase: .securing)
        #expect(verdict(on: failure) == .fail(.notInRetryOn))
        #expect(verdict(on: failure, network: .init(isAway: true, isDoubted: true)) == .fail(.notInRetryOn))
        let portal = NetworkCondition(isAway: true, isBehindPortal: true)
        let parked = Verdict.park(.init(delay: .seconds(1), shutsGate: false, rule: .portal))
        #expect(verdict(on: failure, network: portal) == parked)
        #expect(verdict(on: failure, sending: post, network: portal) == parked)
        #expect(verdict(on: failure, network: portal) { $0.mode = .pass } == .fail(.pass))
        #expect(verdict(on: failure, after: 2, network: portal) { $0.automaticAttemptsMax = 2 } == .fail(.exhausted))
        for kind in [FailureKind.proxyLoopDetected, .destinationIPProhibited, .tlsProtocolError] {
            let expected = verdict(on: .fixture(kind, phase: .securing))
            #expect(verdict(on: .fixture(kind, phase: .securing), network: portal) == expected)
        }
    }

    @Test mutating func unknownHostNameOfAnAbandonedAttemptIsIgnored() {
        var exchange = AttemptRules(policy: .fixture())
        _ = exchange.attemptStarted(trigger: .dueTime)
        exchange.abandonment = .networkChange
        let verdict = exchange.verdict(on: Self.unknown, sending: .init(method: "GET"), using: &generator)
        #expect(verdict == .park(.init(delay: .zero, shutsGate: false, rule: .networkChanged)))
    }

    @Test mutating func modePassHasPrecedenceOverAnUnknownHostName() {
        #expect(verdict(on: Self.unknown) { $0.mode = .pass } == .fail(.pass))
        #expect(verdict(on: Self.unknown) { $0.retryOn = [.status(503)] } == .fail(.notInRetryOn))
    }
}
