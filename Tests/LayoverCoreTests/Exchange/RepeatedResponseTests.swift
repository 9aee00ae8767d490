import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// The contract, section 1, *Outcome unknown*: responses to a request that was sent again after an attempt that may have been applied.
struct RepeatedResponseTests {
    private static func put(_ hasPrecondition: Bool = true, method: String = "PUT") -> RequestSummary {
        var request = RequestSummary(method: method, body: .captured)
        request.hasPrecondition = hasPrecondition
        return request
    }

    private static func machine(
        appliedBefore: Bool = true, isTicket: Bool = false, attempts: Int = 2, change: (inout Policy) -> Void = { _ in }
    ) -> ExchangeMachine {
        ExchangeMachine(
            for: isTicket ? .store(.unstored) : .client,
            AttemptRules(
                policy: .fixture(change), counts: .init(all: attempts, automatic: attempts, mayHaveBeenApplied: appliedBefore)),
            phase: .attempting)
    }

    private static func step(
        _ status: Int, isConflict: Bool = false, retryAfter: Duration? = nil, sending request: RequestSummary = put(),
        in machine: ExchangeMachine
    ) -> ExchangeMachine.FailureStep {
        var machine = machine
        var generator = SeededGenerator(seed: 1)
        return machine.outcomeIsUnknown(
            after: .init(status: status, retryAfter: retryAfter), isConflict: isConflict, connection: nil,
            in: .init(request: request, network: .init(), now: .at(.zero)), using: &generator)
    }

    // MARK: Which responses

    @Test(arguments: ["PUT", "DELETE", "POST", "PATCH", "COPY", "unheard-of"])
    func conflictOfAnUnsafeRequestWithAPreconditionIsNoAnswer(method: String) {
        let request = Self.put(method: method)
        #expect(Self.machine().meaning(ofStatus: 412, to: request) == .unknown)
        #expect(Self.machine().meaning(ofStatus: 409, to: request) == .unknownUnlessConflict)
        for status in 200...599 where status != 412 && status != 409 {
            #expect(Self.machine().meaning(ofStatus: status, to: request) == .answer)
        }
    }

    @Test(arguments: [409, 412])
    func everythingElseIsAnswered(status: Int) {
        #expect(Self.machine(appliedBefore: false).meaning(ofStatus: status, to: Self.put()) == .answer, "a first sending")
        #expect(Self.machine().meaning(ofStatus: status, to: Self.put(false)) == .answer, "no precondition")
        for method in ["GET", "HEAD", "OPTIONS"] {
            #expect(Self.machine().meaning(ofStatus: status, to: Self.put(method: method)) == .answer, "a safe request")
        }
    }

    /// libcurl sends a request again by itself, where a kept connection broke before a response.
    @Test func secondSendingWithinAnAttemptIsARepetition() {
        var machine = Self.machine(appliedBefore: false)
        machine.attempts.sentAgainWithinAttempt(1)
        #expect(machine.meaning(ofStatus: 412, to: Self.put()) == .unknown)
    }

    @Test func staleConnectionMakesTheNextAttemptARepetition() {
        var machine = Self.machine(appliedBefore: false)
        var generator = SeededGenerator(seed: 1)
        let stale = Failure.fixture(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied, reusedConnection: true)
        let step = machine.attemptFailed(
            stale, in: .init(request: Self.put(), network: .init(), now: .at(.zero)), using: &generator)
        #expect(step == .again(.arrival))
        #expect(machine.meaning(ofStatus: 412, to: Self.put()) == .unknown)
    }

    // MARK: What follows

    @Test(arguments: [409, 412])
    func clientIsToldThatTheOutcomeIsUnknown(status: Int) {
        #expect(Self.step(status, in: Self.machine()) == .fail(.outcomeUnknown(status: status), .outcomeUnknown))
        let passing = Self.machine { $0.mode = .pass }
        #expect(Self.step(status, isConflict: true, in: passing) == .fail(.outcomeUnknown(status: status), .outcomeUnknown))
        #expect(Failure.outcomeUnknown(status: status).evidence == .maybeApplied)
        #expect(Failure.outcomeUnknown(status: status).kind.recommendedStatus == 502)
        #expect(!RetryCondition.connectivity.matches(.outcomeUnknown(status: status)))
    }

    @Test func ticketIsUndecidedOrFails() {
        let ask = Verdict.Parking(delay: .zero, shutsGate: false, asks: .maybeApplied, rule: .outcomeUnknown)
        let failure = Failure.outcomeUnknown(status: 412)
        #expect(Self.step(412, in: Self.machine(isTicket: true)) == .park(failure, ask))
        #expect(Self.step(412, in: Self.machine { $0.onMaybeApplied = .ask }) == .park(failure, ask))
        let failing = Self.machine(isTicket: true) { $0.onMaybeApplied = .fail }
        #expect(Self.step(412, in: failing) == .fail(failure, .outcomeUnknown))
    }

    @Test func conflictIsRepeatedAfterTheDelay() {
        let repeats = Verdict.Parking(delay: .seconds(2), shutsGate: false, rule: .outcomeUnknown)
        let failure = Failure.outcomeUnknown(status: 409)
        for isTicket in [false, true] {
            #expect(Self.step(409, isConflict: true, in: Self.machine(isTicket: isTicket)) == .park(failure, repeats))
        }
        let later = Self.step(409, isConflict: true, retryAfter: .seconds(9), in: Self.machine())
        #expect(later == .park(failure, .init(delay: .seconds(9), shutsGate: false, rule: .outcomeUnknown)))
        // A policy may say the same of a status.
        let listed = Self.machine { $0.retryOn = [.status(412)] }
        #expect(Self.step(412, in: listed) == .park(.outcomeUnknown(status: 412), repeats))
    }

    @Test func conflictThatMayNotBeRepeatedIsUnknown() {
        let unknown = ExchangeMachine.FailureStep.fail(.outcomeUnknown(status: 409), .outcomeUnknown)
        #expect(Self.step(409, isConflict: true, in: Self.machine { $0.automaticAttemptsMax = 2 }) == unknown)
        #expect(Self.step(409, isConflict: true, sending: Self.put(method: "POST"), in: Self.machine()) == unknown)
        #expect(Self.step(409, isConflict: true, retryAfter: .seconds(7200), in: Self.machine()) == unknown)
    }

    // MARK: The code of a conflict

    @Test func codeIsFoundInAShortBodyOnly() {
        let body = "<Error><Code>ConditionalRequestConflict</Code></Error>"
        #expect(ConflictCode.isIn(Array(body.utf8)))
        #expect(!ConflictCode.isIn(Array("<Error><Code>OperationAborted</Code></Error>".utf8)))
        #expect(!ConflictCode.isIn([]))
        let padding = String(repeating: " ", count: ConflictCode.byteCountMax - body.utf8.count)
        #expect(ConflictCode.isIn(Array((padding + body).utf8)))
        #expect(!ConflictCode.isIn(Array((padding + " " + body).utf8)))
    }
}
