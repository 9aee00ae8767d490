import LayoverTestSupport
import Testing

@testable import LayoverCore

/// The first step of a request, and what its client gets when its entry or the proxy ends.
struct ClientStepTests {
    private func machine(
        _ phase: ExchangePhase, _ ticket: ExchangeMachine.TicketMoment = .never, _ change: (inout Policy) -> Void = { _ in }
    ) -> ExchangeMachine {
        ExchangeMachine(for: .client, AttemptRules(policy: .fixture(change)), phase: phase, ticket: ticket)
    }

    // MARK: The first step

    @Test func requestIsTriedAtOnceUnlessItsGateIsShut() {
        let machine = machine(.collecting(for: .attempt))
        #expect(machine.firstStep(.init(notice: nil)) == .attempt)
        #expect(machine.firstStep(.init(notice: .forgotten, isInLane: true)) == .attempt)
        #expect(machine.firstStep(.init(notice: .watched)) == .countedAttempt)
        #expect(machine.firstStep(.init(notice: .watched, isInLane: true)) == .wait, "others of its lane may be before it")
        #expect(machine.firstStep(.init(notice: .shut)) == .waitForOrigin)
        #expect(machine.firstStep(.init(notice: .shut, isOffline: true)) == .waitForOrigin)
        let name = machine.attempts.policy.name
        #expect(machine.firstStep(.init(notice: .paused([name]))) == .wait)
        #expect(machine.firstStep(.init(notice: .paused(["other"]))) == .countedAttempt)
    }

    @Test func laneWaitsUntilTheStoreIsRead() {
        let machine = machine(.collecting(for: .attempt))
        #expect(machine.firstStep(.init(notice: nil, isInLane: true, areLanesUnknown: true)) == .wait)
        #expect(machine.firstStep(.init(notice: nil, areLanesUnknown: true)) == .attempt)
    }

    /// Under `mode: pass` nothing waits.
    @Test func requestThatMustNotWaitIsTriedOrFails() {
        let machine = machine(.collecting(for: .attempt)) { $0.mode = .pass }
        #expect(machine.firstStep(.init(notice: .shut)) == .countedAttempt)
        #expect(machine.firstStep(.init(notice: .shut, isOffline: true)) == .failOffline)
        #expect(machine.firstStep(.init(notice: .watched, isInLane: true, areLanesUnknown: true)) == .countedAttempt)
    }

    // MARK: The end of the entry

    @Test(arguments: ExchangePhase.all) func endOfAnEntryReachesItsClientOnce(phase: ExchangePhase) {
        var machine = machine(phase)
        #expect(machine.isOverForClient == [.delivering, .unattended, .ended].contains(phase))
        let step = machine.entryEnded(.cancelled(reason: nil), hasBegunSending: true)
        #expect(machine.attempts.counts.mayHaveBeenApplied)
        // A client that is to be answered is, before its exchange ends.
        #expect(machine.phase == (step == .answer ? phase : .ended))
        switch phase {
        case .delivering: #expect(step == .breakOff)
        case .unattended: #expect(step == .close)
        case .ended: #expect(step == .none)
        default: #expect(step == .answer)
        }
    }

    /// A response in hand is better than a 503 about the stop of the proxy.
    @Test func responseInHandIsDeliveredWhenTheProxyStops() {
        let cases: [(ExchangePhase, EntryEnd, ExchangeMachine.EntryEndStep)] = [
            (.withholding, .draining, .deliver), (.withholding, .expired, .answer), (.parked, .draining, .answer),
        ]
        for (phase, end, expected) in cases {
            var machine = machine(phase)
            #expect(machine.entryEnded(end, hasBegunSending: true) == expected)
            #expect(machine.phase == phase)
            #expect(machine.attempts.counts.mayHaveBeenApplied == (expected != .deliver), "the response says what became of it")
        }
    }

    // MARK: The stop of the proxy

    @Test(arguments: ExchangePhase.all) func clientGetsATicketOrAnAnswerWhenTheProxyStops(phase: ExchangePhase) {
        var departure = ExchangeMachine.Departure(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: false)
        var (first, second) = (machine(phase, .afterWait), machine(phase, .afterWait))
        let whole = first.cutOff(departure)
        #expect(first.isLastWordDue == (whole == .offerTicket))
        departure.isComplete = false
        let part = second.cutOff(departure)
        #expect(!second.isLastWordDue)
        switch phase {
        case .delivering, .unattended, .ended: #expect(whole == .none && part == .none)
        case .attempting, .withholding, .parked: #expect(whole == .offerTicket && part == .answer)
        default: #expect(whole == .answer && part == .answer)
        }
    }

    @Test func stopWaitsForStoringAndJoinedRequests() {
        let departure = ExchangeMachine.Departure(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: false)
        var joined = machine(.searching(.duplicateKey))
        _ = joined.keyIsTaken(.outcome, isInputClosed: false)
        #expect(joined.cutOff(departure) == .waitForOutcome)
        #expect(joined.isLastWordDue)
        _ = joined.keyIsTaken(.store, isInputClosed: false)
        #expect(joined.awaitsKey, "the one that went has left no outcome, and the store says nothing: it is answered when its time is over")
        var withoutStore = machine(.searching(.duplicateKey))
        _ = withoutStore.keyIsTaken(.store, isInputClosed: false)
        #expect(withoutStore.cutOff(departure) == .answer, "the store may never come")
        for phase: ExchangePhase in [.collecting(for: .ticket), .searching(.duplicateKey), .accepting] {
            var machine = machine(phase, .atOnce)
            _ = machine.keyIsTaken(.outcome, isInputClosed: false)
            #expect(machine.cutOff(departure) == .waitForStore)
        }
        for (purpose, phase): (RequestPurpose, ExchangePhase) in [(.upgrade, .parked), (.dial, .attempting), (.dial, .parked)] {
            var machine = machine(phase, .afterWait)
            #expect(machine.cutOff(.init(purpose: purpose, method: "GET", isComplete: true, hasBegunSending: false)) == .answer)
        }
        var withoutWish = machine(.parked)
        #expect(withoutWish.cutOff(departure) == .answer)
    }
}
