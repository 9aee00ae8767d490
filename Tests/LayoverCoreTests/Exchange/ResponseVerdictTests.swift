import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// The rows about answers in the table of verdicts.
struct AnswerVerdictTests {
    private static let get = RequestSummary(method: "GET")
    private static let post = RequestSummary(method: "POST", body: .captured)
    private static let sixty = StandInResponse(status: 200, body: "later")

    /// The verdict after so many automatic attempts.
    private func verdict(
        _ response: ResponseSummary, sending request: RequestSummary = get, after attempts: Int = 1,
        trigger: AttemptTrigger = .dueTime, _ change: (inout Policy) -> Void = { _ in }
    ) -> Verdict {
        var policy = Policy.fixture { $0.retryOn = [.connectivity, .status(429), .status(503)] }
        change(&policy)
        var exchange = AttemptRules(policy: policy)
        for number in 0..<attempts {
            _ = exchange.attemptStarted(trigger: number == 0 ? .arrival : trigger)
        }
        var generator = SeededGenerator(seed: 1)
        return exchange.verdict(on: response, sending: request, using: &generator)
    }

    private func wait(_ duration: Duration, _ retryAfter: Duration? = nil) -> Verdict {
        .park(.init(delay: duration, shutsGate: false, rule: .status, retryAfter: retryAfter))
    }

    // MARK: answered, status not in `retryOn` → deliver

    @Test(arguments: [200, 204, 301, 400, 404, 500, 502, 504])
    func responseWithAStatusNotInRetryOnIsDelivered(status: Int) {
        #expect(verdict(ResponseSummary(status: status)) == .deliver(.answered))
        #expect(verdict(ResponseSummary(status: status, retryAfter: .seconds(5))) == .deliver(.answered))
        #expect(verdict(ResponseSummary(status: status), sending: Self.post) == .deliver(.answered))
    }

    /// S2d: only what the filter lists is tried again.
    @Test func s2dConnectivityAloneRetriesNoStatus() {
        for status in 100...599 {
            #expect(verdict(ResponseSummary(status: status)) { $0.retryOn = [.connectivity] } == .deliver(.answered))
        }
    }

    /// S1f: the pattern extends to other errors.
    @Test(arguments: [401, 403, 500, 418, 529])
    func s1fAnyStatusCanBeListed(status: Int) {
        #expect(verdict(ResponseSummary(status: status)) { $0.retryOn = [.status(status)] } == wait(.seconds(1)))
        #expect(verdict(ResponseSummary(status: status + 1)) { $0.retryOn = [.status(status)] } == .deliver(.answered))
    }

    @Test(arguments: [ResponseSummary(status: 503), ResponseSummary(status: 503, retryAfter: .seconds(5))])
    func modePassDeliversEverything(answer: ResponseSummary) {
        #expect(verdict(answer) { $0.mode = .pass } == .deliver(.answered))
    }

    // MARK: answered, status in `retryOn`, attempts left, repeatable → wait

    @Test(arguments: [
        get, .init(method: "PUT", body: .captured), .init(method: "DELETE"),
        .init(method: "POST", hasIdempotencyKey: true, body: .captured),
        .init(method: "PATCH", declaredRepeatable: true, body: .captured),
    ])
    func repeatableRequestWithAStatusInRetryOnIsParked(request: RequestSummary) {
        #expect(verdict(ResponseSummary(status: 503), sending: request) == wait(.seconds(1)))
        #expect(verdict(ResponseSummary(status: 503), sending: request, after: 4) == wait(.seconds(8)))
    }

    /// The longer of the two: max(delay, Retry-After).
    @Test(arguments: [
        (Duration.zero, 1, 1), (.milliseconds(900), 1, 1), (.seconds(1), 1, 1), (.seconds(7), 1, 7),
        (.seconds(7), 4, 8), (.seconds(3600), 1, 3600),
    ])
    func nextAttemptWaitsForTheLongerOfDelayAndRetryAfter(retryAfter: Duration, attempts: Int, seconds: Int) {
        let response = ResponseSummary(status: 429, retryAfter: retryAfter)
        #expect(verdict(response, after: attempts) == wait(.seconds(seconds), retryAfter))
    }

    @Test func aRetryAfterAboveTheLimitIsDeliveredAsItIs() {
        let justOver = Duration.seconds(3600) + .nanoseconds(1)
        #expect(verdict(ResponseSummary(status: 503, retryAfter: justOver)) == .deliver(.retryAfterMax))
        #expect(
            verdict(ResponseSummary(status: 503, retryAfter: .seconds(60))) { $0.retryAfterMax = .seconds(59) }
                == .deliver(.retryAfterMax))
        #expect(verdict(ResponseSummary(status: 503, retryAfter: .zero)) { $0.retryAfterMax = .zero } == wait(.seconds(1), .zero))
        // The rule is the same under every `onExhausted`.
        for rule in [Policy.ExhaustedRule.ask, .standIn(Self.sixty)] {
            let verdict = verdict(ResponseSummary(status: 503, retryAfter: justOver), after: 2, Policy.exhausted(after: 2, rule))
            #expect(verdict == .deliver(.retryAfterMax))
        }
    }

    @Test func responseIsDeliveredIfTheOriginForbidsARetry() {
        #expect(verdict(ResponseSummary(status: 503, forbidsRetry: true)) == .deliver(.originForbids))
        let response = ResponseSummary(status: 503, retryAfter: .seconds(1), forbidsRetry: true)
        #expect(verdict(response, Policy.exhausted(after: 1, .ask)) == .deliver(.originForbids))
        #expect(verdict(ResponseSummary(status: 200, forbidsRetry: true)) == .deliver(.answered))
    }

    // MARK: answered, status in `retryOn`, not repeatable → deliver

    @Test(arguments: [
        post, .init(method: "PATCH"), .init(method: "POST"), .init(method: "get"),
        .init(method: "PUT", body: .arriving), .init(method: "PUT", body: .lost),
        .init(method: "DELETE", body: .brokenOff),
        .init(method: "POST", hasIdempotencyKey: true, body: .lost),
    ])
    func responseToAnUnrepeatableRequestIsDelivered(request: RequestSummary) {
        #expect(verdict(ResponseSummary(status: 503, retryAfter: .seconds(1)), sending: request) == .deliver(.notRepeatable))
        for rule in [Policy.ExhaustedRule.fail, .ask, .standIn(Self.sixty)] {
            let verdict = verdict(ResponseSummary(status: 503), sending: request, after: 3, Policy.exhausted(after: 1, rule))
            #expect(verdict == .deliver(.notRepeatable))
        }
    }

    // MARK: answered 429 in `retryOn`, not repeatable → the same as for repeatable requests

    @Test(arguments: [post, .init(method: "PATCH"), .init(method: "POST", body: .none)])
    func requestThatALimiterRefusedIsSentAgain(request: RequestSummary) {
        let refusal = ResponseSummary(status: 429, retryAfter: .seconds(7))
        #expect(verdict(refusal, sending: request) == wait(.seconds(7), .seconds(7)))
        #expect(verdict(refusal, sending: request) { $0.retryOn = [.connectivity] } == .deliver(.answered))
    }

    @Test(arguments: [RequestSummary.Body.arriving, .lost, .brokenOff])
    func refusedRequestWithoutItsBodyIsNotSentAgain(body: RequestSummary.Body) {
        #expect(verdict(ResponseSummary(status: 429), sending: .init(method: "POST", body: body)) == .deliver(.notRepeatable))
    }

    @Test func refusalSaysNothingAboutAnEarlierAttempt() {
        var generator = SeededGenerator(seed: 1)
        var exchange = AttemptRules(
            policy: .fixture { $0.retryOn = [.status(429)] }, counts: .init(all: 1, automatic: 1, mayHaveBeenApplied: true))
        #expect(exchange.verdict(on: .init(status: 429), sending: Self.post, using: &generator) == .deliver(.notRepeatable))
        var fresh = AttemptRules(policy: .fixture { $0.retryOn = [.status(429)] })
        _ = fresh.verdict(on: .init(status: 429), sending: Self.post, using: &generator)
        #expect(!fresh.counts.mayHaveBeenApplied)
    }

    // MARK: exhausted

    /// S2a and S4c: at most n attempts, the first included.
    @Test(arguments: 1...5)
    func s2aAttemptsStopAtTheMaximum(max: Int) {
        for attempts in 1...6 {
            let verdict = verdict(ResponseSummary(status: 503), after: attempts) { $0.automaticAttemptsMax = max }
            #expect((verdict == .deliver(.exhausted)) == (attempts >= max), "after \(attempts)")
        }
    }

    /// S2a: without a limit there is no end.
    @Test func s2aAttemptsContinueForEverWithoutALimit() {
        #expect(verdict(ResponseSummary(status: 503), after: 100_000) == wait(.seconds(30)))
    }

    @Test func exhaustedRequestBecomesUndecidedIfThePolicySaysSo() {
        let verdict = verdict(ResponseSummary(status: 503, retryAfter: .seconds(9)), after: 2, Policy.exhausted(after: 2, .ask))
        #expect(verdict == .park(.init(delay: .zero, shutsGate: false, asks: .exhausted, rule: .onExhausted, retryAfter: .seconds(9))))
        #expect(verdict.word == "ask")
        #expect(verdict.rule == "onExhausted")
    }

    /// S2b: after n failures it ends in success with a stand-in value.
    @Test(arguments: [2, 3])
    func s2bExhaustedEndsInTheStandIn(attempts: Int) {
        let onStatus = verdict(ResponseSummary(status: 503), after: attempts, Policy.exhausted(after: 2, .standIn(Self.sixty)))
        #expect(onStatus == .standIn(Self.sixty))
    }

    @Test func requestedAttemptsDoNotCountAsAutomatic() {
        let verdict = verdict(ResponseSummary(status: 503), after: 9, trigger: .admin) { $0.automaticAttemptsMax = 2 }
        #expect(verdict == wait(.seconds(30)))
    }
}
