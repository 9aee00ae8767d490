import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

struct ExchangeTests {
    private var exchange = AttemptRules(policy: .fixture())
    private var lastCounts = AttemptCounts()
    private var generator = SeededGenerator(seed: 1)
    private let get = RequestSummary(method: "GET")

    @Test mutating func delaysGrowWithTheAttempts() {
        let delays = (1...7).map { number -> Verdict in
            #expect(exchange.attemptStarted(trigger: .dueTime) == number)
            return exchange.verdict(on: .refused, sending: get, using: &generator)
        }
        #expect(
            delays == [1, 2, 4, 8, 16, 30, 30].map { .park(.init(delay: .seconds($0), shutsGate: true)) })
        #expect(exchange.automaticLeft == nil)
    }

    /// `automaticAttemptsMax` counts every attempt that no person asked for, the first included.
    @Test mutating func automaticAttemptsRunOut() {
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 3 })
        var verdicts: [Verdict] = []
        var left: [Int?] = []
        for trigger in [AttemptTrigger.arrival, .dueTime, .admin, .canary] {
            _ = exchange.attemptStarted(trigger: trigger)
            verdicts.append(exchange.verdict(on: .refused, sending: get, using: &generator))
            left.append(exchange.automaticLeft)
        }
        #expect(left == [2, 1, 1, 0])
        let parked = [1, 2, 4].map { Verdict.park(.init(delay: .seconds($0), shutsGate: true)) }
        #expect(verdicts == parked + [.fail(.exhausted)])
    }

    @Test(arguments: AttemptTrigger.allCases)
    func onlyAPersonsAttemptsAreNotCounted(trigger: AttemptTrigger) {
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 3 })
        _ = exchange.attemptStarted(trigger: trigger)
        #expect(exchange.attemptCount == 1)
        #expect(exchange.automaticLeft == (trigger == .admin ? 3 : 2))
    }

    @Test mutating func repeatedSendingsWithinAnAttemptAreCounted() {
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 3 })
        _ = exchange.attemptStarted(trigger: .arrival)
        exchange.sentAgainWithinAttempt(2)
        #expect(exchange.attemptCount == 3)
        #expect(exchange.verdict(on: .reset, sending: get, using: &generator) == .fail(.exhausted))
    }

    // MARK: Kept-alive connections

    private let stale = Failure.fixture(
        .connectionTerminated, phase: .sending, evidence: .maybeApplied, reusedConnection: true)

    @Test mutating func aStaleConnectionIsReplacedOnce() {
        var exchange = AttemptRules(policy: .fixture { $0.mode = .pass })
        _ = exchange.attemptStarted(trigger: .arrival)
        #expect(exchange.verdict(on: stale, sending: get, using: &generator) == .againOnNewConnection)
        exchange.hasTriedNewConnection = true
        _ = exchange.attemptStarted(trigger: .arrival)
        #expect(exchange.verdict(on: stale, sending: get, using: &generator) == .fail(.pass))
    }

    /// Regression: the attempt on the new connection was cut off as the network changed, and made again on one that had died too.
    @Test mutating func staleConnectionsAddOneAttemptToTheLimit() {
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 1 })
        _ = exchange.attemptStarted(trigger: .arrival)
        #expect(exchange.verdict(on: stale, sending: get, using: &generator) == .againOnNewConnection)
        exchange.hasTriedNewConnection = true
        _ = exchange.attemptStarted(trigger: .arrival)
        exchange.abandonment = .networkChange
        let cutOff = Failure.fixture(.connectionTerminated, phase: .connecting, evidence: .neverSent)
        guard case .park = exchange.verdict(on: cutOff, sending: get, using: &generator) else {
            Issue.record("It is to be made again.")
            return
        }
        exchange.abandonment = nil
        exchange.hasTriedNewConnection = false
        _ = exchange.attemptStarted(trigger: .reachability)
        #expect(exchange.verdict(on: stale, sending: get, using: &generator) == .fail(.exhausted))
    }

    /// Regression: a PUT got a 502 when the connection died that it had begun to use, and the rest of its body was to come.
    @Test(arguments: [RequestSummary.Body.none, .arriving, .captured, .lost, .brokenOff])
    mutating func aStaleConnectionIsReplacedWhileTheBodyIsArriving(body: RequestSummary.Body) {
        _ = exchange.attemptStarted(trigger: .arrival)
        let verdict = exchange.verdict(on: stale, sending: RequestSummary(method: "PUT", body: body), using: &generator)
        #expect((verdict == .againOnNewConnection) == (body != .lost && body != .brokenOff))
    }

    @Test mutating func unrepeatableRequestIsNotResentAfterAStaleConnection() {
        _ = exchange.attemptStarted(trigger: .arrival)
        for body in [RequestSummary.Body.arriving, .captured] {
            let post = RequestSummary(method: "POST", body: body)
            #expect(exchange.verdict(on: stale, sending: post, using: &generator) == .fail(.maybeApplied))
        }
    }

    // MARK: Attempts that were given up on purpose

    private let aborted = Failure.fixture(.proxyInternalError, phase: .connecting)

    /// Regression: the request of an attempt that we cut off was answered with an error of our own.
    @Test mutating func abandonedAttemptIsRepeated() {
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 1 })
        _ = exchange.attemptStarted(trigger: .canary)
        exchange.abandonment = .networkChange
        let post = RequestSummary(method: "POST", body: .captured)
        #expect(
            exchange.verdict(on: aborted, sending: post, using: &generator)
                == .park(.init(delay: .zero, shutsGate: false, rule: .networkChanged)))
        // The next one is judged like any other.
        _ = exchange.attemptStarted(trigger: .reachability)
        #expect(exchange.verdict(on: aborted, sending: post, using: &generator) == .fail(.notInRetryOn))
    }

    /// Regression: a ticket that a person forced was thrown away as failed when the network changed meanwhile.
    @Test mutating func abandonedForcedAttemptIsUndecidedAgain() {
        var post = RequestSummary(method: "POST", body: .captured)
        post.isTicket = true
        _ = exchange.attemptStarted(trigger: .dueTime)
        _ = exchange.verdict(on: .reset, sending: post, using: &generator)
        _ = exchange.attemptStarted(trigger: .admin)
        exchange.abandonment = .networkChange
        #expect(
            exchange.verdict(on: aborted, sending: post, using: &generator)
                == .park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied)))
    }

    // MARK: What the store stopped

    /// Regression: a full disk used up the attempts of tickets that were never sent.
    @Test(arguments: [AttemptTrigger.arrival, .dueTime, .canary, .reachability, .predecessor, .admin])
    func attemptStoppedByTheStoreDoesNotCount(trigger: AttemptTrigger) {
        let before = AttemptCounts(all: 3, automatic: 2)
        var exchange = AttemptRules(policy: .fixture { $0.automaticAttemptsMax = 4 }, counts: before)
        for _ in 0..<10 {
            #expect(exchange.attemptStarted(trigger: trigger) == 4)
            exchange.stoppedByStore(.neverSent)
            #expect(exchange.counts == before)
            #expect(exchange.automaticLeft == 2)
        }
    }

    /// The file of a body gave up in the middle of it: that one may have been applied, and counts.
    @Test mutating func attemptSentBeforeTheStoreStoppedItCounts() {
        _ = exchange.attemptStarted(trigger: .dueTime)
        exchange.stoppedByStore(.maybeApplied)
        #expect(exchange.counts == AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true))
    }

    // MARK: The end of the proxy

    /// Regression: a ticket whose attempt was cut off by the end of the proxy was thrown away as failed.
    @Test mutating func ticketIsKeptForTheNextProcessWhenTheProxyStops() {
        let left = Verdict.park(.init(delay: .zero, shutsGate: false, rule: .stopping))
        let asks = Verdict.park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .stopping))
        let sent = Failure.fixture(.proxyInternalError, phase: .awaitingResponse, evidence: .maybeApplied)
        for (method, failure, verdict) in [
            ("POST", aborted, left), ("POST", sent, asks), ("PUT", aborted, left), ("PUT", sent, left),
        ] {
            for mode in Policy.Mode.allCases {
                var exchange = AttemptRules(policy: .fixture { $0.mode = mode })
                exchange.isStopping = true
                _ = exchange.attemptStarted(trigger: .dueTime)
                var request = RequestSummary(method: method, body: .captured)
                request.isTicket = true
                #expect(exchange.verdict(on: failure, sending: request, using: &generator) == verdict)
                #expect(exchange.counts.automatic == (failure.evidence == .neverSent ? 0 : 1))
                #expect(exchange.counts.mayHaveBeenApplied == (failure.evidence == .maybeApplied))
            }
        }
    }

    // MARK: What ends a request, but not a ticket

    private mutating func verdict(
        on failure: Failure, of method: String, isTicket: Bool, _ change: (inout Policy) -> Void = { _ in },
        while state: (inout AttemptRules) -> Void = { _ in }
    ) -> Verdict {
        var exchange = AttemptRules(policy: .fixture { change(&$0) })
        var request = RequestSummary(method: method, body: .captured)
        request.isTicket = isTicket
        _ = exchange.attemptStarted(trigger: .dueTime)
        state(&exchange)
        defer { lastCounts = exchange.counts }
        return exchange.verdict(on: failure, sending: request, using: &generator)
    }

    /// Regression: a proxy that ran out of descriptors threw away every ticket that was due.
    @Test(arguments: [FailureKind.proxyInternalError, .proxyConfigurationError, .connectionLimitReached])
    mutating func ticketWaitsAfterAnInternalFailure(kind: FailureKind) {
        let unsent = Failure.fixture(kind, phase: .connecting)
        let sent = Failure.fixture(kind, phase: .sending, evidence: .maybeApplied)
        let waits = Verdict.park(.init(delay: .seconds(5), shutsGate: false, rule: .ownTrouble))
        #expect(verdict(on: unsent, of: "POST", isTicket: true) == waits)
        #expect(lastCounts.automatic == 0, "it is tried for as long as the ticket lives")
        #expect(verdict(on: sent, of: "PUT", isTicket: true) == waits)
        #expect(
            verdict(on: sent, of: "POST", isTicket: true)
                == .park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .ownTrouble)))
    }

    /// A parent proxy that wants another password must not cost the orders that were accepted, and two reloads that cross may make a loop
    /// of some seconds. What its administrator denies, and a loop that includes this proxy, stay failures.
    @Test(arguments: [
        (Failure.fixture(.parentProxyMisconfigured, phase: .connecting), FailureKind.parentProxyDenied),
        (Failure.fixture(.connectionRefused, phase: .connecting).loopOfParentProxies, .proxyLoopDetected),
    ])
    mutating func ticketWaitsWhileItsParentProxyIsMisconfiguredOrReportsALoop(trouble: Failure, lasting: FailureKind) {
        #expect(verdict(on: trouble, of: "POST", isTicket: false) == .fail(.notInRetryOn))
        #expect(verdict(on: trouble, of: "POST", isTicket: true) == .park(.init(delay: .seconds(1), shutsGate: false, rule: .ownTrouble)))
        #expect(lastCounts.automatic == 0, "it is tried for as long as the ticket lives")
        #expect(verdict(on: .fixture(lasting, phase: .connecting), of: "POST", isTicket: true) == .fail(.notInRetryOn))
    }

    @Test mutating func ticketWaitsWhileItsHostNameIsUnknown() {
        var unknown = Failure.fixture(.dnsError, phase: .resolving)
        unknown.isNameUnknown = true
        #expect(verdict(on: unknown, of: "POST", isTicket: false) == .fail(.nameUnknown))
        #expect(verdict(on: unknown, of: "POST", isTicket: true).sendsAgain)
    }

    @Test mutating func ticketThatMayHaveBeenAppliedIsUndecidedAfterAnyFailure() {
        let garbage = Failure.fixture(.httpProtocolError, phase: .awaitingResponse, evidence: .maybeApplied)
        for method in ["POST", "PUT"] {
            #expect(verdict(on: garbage, of: method, isTicket: false) == .fail(.notInRetryOn))
            #expect(
                verdict(on: garbage, of: method, isTicket: true)
                    == .park(.init(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .onMaybeApplied)))
            #expect(verdict(on: garbage, of: method, isTicket: true) { $0.onMaybeApplied = .fail } == .fail(.notInRetryOn))
        }
    }

    /// A reload may give its policy that mode.
    @Test mutating func ticketIgnoresModePass() {
        let refused = Failure.fixture(.connectionRefused, phase: .connecting)
        #expect(verdict(on: refused, of: "POST", isTicket: false) { $0.mode = .pass } == .fail(.pass))
        #expect(verdict(on: refused, of: "POST", isTicket: true) { $0.mode = .pass }.sendsAgain)
    }

    @Test mutating func heldRequestEndsWithTheProxy() {
        let verdict = verdict(on: aborted, of: "POST", isTicket: false, while: { $0.isStopping = true })
        #expect(verdict == .fail(.notInRetryOn))
    }

    @Test mutating func abandonedAttemptThatWasSentIsJudgedByItsEvidence() {
        let verdict = verdict(on: .reset, of: "POST", isTicket: false, while: { $0.abandonment = .networkChange })
        #expect(verdict == .fail(.maybeApplied))
    }
}
