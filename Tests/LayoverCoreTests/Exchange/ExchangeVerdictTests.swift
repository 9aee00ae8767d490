import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// The table of verdicts, row by row. Statuses under `retryOn` are not decided here.
struct ExchangeVerdictTests {
    private static let repeatable = RequestSummary(method: "GET")
    private static let unrepeatable = RequestSummary(method: "POST", body: .captured)

    /// The verdict after one attempt.
    private func verdict(
        on failure: Failure, sending request: RequestSummary = repeatable, after attempts: Int = 1,
        change: (inout Policy) -> Void = { _ in }
    ) -> Verdict {
        var exchange = AttemptRules(policy: .fixture(change))
        for _ in 0..<attempts { _ = exchange.attemptStarted(trigger: .arrival) }
        var generator = SeededGenerator(seed: 1)
        return exchange.verdict(on: failure, sending: request, using: &generator)
    }

    // MARK: failure in `retryOn`, neverSent, any → park

    @Test(arguments: [
        repeatable, unrepeatable, .init(method: "POST"), .init(method: "POST", body: .arriving),
    ])
    func requestThatWasNeverSentIsParkedWithAnyMethod(request: RequestSummary) {
        #expect(verdict(on: .refused, sending: request) == .park(.init(delay: .seconds(1), shutsGate: true)))
    }

    @Test(arguments: [
        (FailureKind.dnsError, FailurePhase.resolving, true), (.dnsTimeout, .resolving, true),
        (.connectionTimeout, .connecting, true), (.destinationIPUnroutable, .connecting, true),
        (.tlsProtocolError, .securing, true), (.connectionTerminated, .securing, true),
        (.connectionTerminated, .sending, false),
    ])
    func onlyConnectivityFailuresShutTheGate(kind: FailureKind, phase: FailurePhase, shutsGate: Bool) {
        let failure = Failure.fixture(kind, phase: phase)
        #expect(verdict(on: failure) == .park(.init(delay: .seconds(1), shutsGate: shutsGate)))
    }

    /// A parent proxy that could not connect to the origin may say when to come back.
    @Test func failureThatNamesAWaitIsParkedForThatLong() {
        var failure = Failure.fixture(.destinationUnavailable)
        for (wait, delay) in [(Duration.milliseconds(500), Duration.seconds(1)), (.seconds(5), .seconds(5))] {
            failure.retryAfter = wait
            #expect(verdict(on: failure) == .park(.init(delay: delay, shutsGate: true, retryAfter: wait)))
        }
        failure.retryAfter = .seconds(3601)
        #expect(verdict(on: failure) == .park(.init(delay: .seconds(1), shutsGate: true)), "longer than retryAfterMax")
    }

    // MARK: failure in `retryOn`, maybeApplied, repeatable → park

    @Test(arguments: [
        repeatable, .init(method: "PUT", body: .captured),
        .init(method: "POST", hasIdempotencyKey: true, body: .captured),
        .init(method: "POST", declaredRepeatable: true),
    ])
    func repeatableRequestThatMayHaveBeenAppliedIsParked(request: RequestSummary) {
        #expect(verdict(on: .reset, sending: request) == .park(.init(delay: .seconds(1), shutsGate: false)))
    }

    /// The body of a request that was never sent may still be arriving.
    @Test(arguments: [
        (Failure.refused, RequestSummary.Body.lost), (.refused, .brokenOff), (.reset, .arriving), (.reset, .lost), (.reset, .brokenOff),
    ])
    func aRepeatableRequestNeedsItsWholeBody(failure: Failure, body: RequestSummary.Body) {
        let request = RequestSummary(method: "PUT", body: body)
        #expect(verdict(on: failure, sending: request) == .fail(.bodyNotReplayable))
    }

    // MARK: failure, maybeApplied, not repeatable → fail now

    @Test(arguments: FailureKind.allCases)
    func unrepeatableRequestThatMayHaveBeenAppliedFails(kind: FailureKind) {
        for phase in FailurePhase.allCases {
            for body in [RequestSummary.Body.none, .arriving, .captured, .lost, .brokenOff] {
                for isReused in [true, false] {
                    let failure = Failure.fixture(
                        kind, phase: phase, evidence: .maybeApplied, reusedConnection: isReused)
                    let verdict = verdict(on: failure, sending: .init(method: "POST", body: body)) {
                        $0.retryOn = FailureKind.allCases.map { .errorType($0) }
                    }
                    #expect(verdict == .fail(.maybeApplied))
                }
            }
        }
    }

    // MARK: failure not in `retryOn` → fail now

    @Test(arguments: [
        FailureKind.tlsCertificateError, .httpRequestError, .proxyLoopDetected, .destinationIPProhibited,
        .proxyInternalError, .httpProtocolError,
    ])
    func failureThatIsNoConnectivityEndsAtOnce(kind: FailureKind) {
        for phase in FailurePhase.allCases {
            #expect(verdict(on: .fixture(kind, phase: phase)) == .fail(.notInRetryOn))
            let sent = Failure.fixture(kind, phase: phase, evidence: .maybeApplied)
            #expect(verdict(on: sent) == .fail(.notInRetryOn))
        }
    }

    @Test func anEmptyListRetriesNothing() {
        #expect(verdict(on: .refused) { $0.retryOn = [] } == .fail(.notInRetryOn))
        #expect(verdict(on: .refused) { $0.retryOn = [.dns, .status(503)] } == .fail(.notInRetryOn))
        #expect(
            verdict(on: .refused) { $0.retryOn = [.dns, .connect] }
                == .park(.init(delay: .seconds(1), shutsGate: true)))
    }

    // MARK: response began, then the connection broke → cut off

    @Test(arguments: FailureKind.allCases)
    func requestFailsOnceItsResponseHasBegun(kind: FailureKind) {
        let failure = Failure.fixture(kind, phase: .receiving, evidence: .answered)
        #expect(verdict(on: failure) == .fail(.responseBegan))
        #expect(verdict(on: failure) { $0.mode = .pass } == .fail(.responseBegan))
    }

    // MARK: mode pass

    @Test(arguments: [Failure.refused, .reset, .fixture(.tlsCertificateError, phase: .securing)])
    func modePassRetriesNothing(failure: Failure) {
        #expect(verdict(on: failure) { $0.mode = .pass } == .fail(.pass))
    }
}
