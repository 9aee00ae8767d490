import LayoverTestSupport
import Testing

@testable import LayoverCore

/// How a request stands among those with its `Idempotency-Key`.
struct KeyStepTests {
    typealias Moment = ExchangeMachine.TicketMoment

    private var machine = Self.searching()

    private static func searching(_ moment: Moment = .afterWait) -> ExchangeMachine {
        let use: ExchangePhase.Use = moment == .atOnce ? .ticket : .attempt
        var machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture()), phase: .collecting(for: use), ticket: moment)
        machine.keySearchBegan()
        return machine
    }

    @Test mutating func requestWhoseKeyIsFreeGoes() {
        #expect(!machine.awaitsKey && !machine.holdsKey)
        #expect(machine.keyIsFree() == .attempt)
        #expect(machine.holdsKey)
        var atOnce = Self.searching(.atOnce)
        #expect(atOnce.keyIsFree() == .accept)
    }

    @Test(arguments: KeySearch.Awaited.allCases) mutating func requestThatHasWaitedGoesWhenItsKeyIsFree(awaited: KeySearch.Awaited) {
        #expect(machine.keyIsTaken(awaited, isInputClosed: false) == .wait)
        #expect(machine.awaitsKey && machine.awaitsOutcome == (awaited == .outcome))
        #expect(machine.keyIsFree() == .attempt)
        #expect(!machine.awaitsKey)
    }

    /// The client has waited as long as it asked for, and has no ticket yet.
    @Test(arguments: KeySearch.Awaited.allCases) mutating func ticketIsAskedForIfTheWaitIsOverBefore(awaited: KeySearch.Awaited) {
        #expect(machine.keyWaitEnded() == false, "the engine has not answered yet")
        _ = machine.keyIsTaken(awaited, isInputClosed: false)
        #expect(machine.keyWaitEnded() == true)
        #expect(machine.keyIsFree() == .attemptAsTicket)
        #expect(machine.keyWaitEnded() == false)
    }

    @Test mutating func repeatedKeyResultChangesOnlyWhatIsAwaited() {
        #expect(machine.keyIsTaken(.store, isInputClosed: false) == .wait)
        #expect(machine.keyIsTaken(.store, isInputClosed: true) == .none)
        #expect(machine.keyIsTaken(.outcome, isInputClosed: false) == .none)
        #expect(machine.awaitsOutcome)
        #expect(machine.keyIsTaken(.store, isInputClosed: false) == .none)
        #expect(!machine.awaitsOutcome)
        #expect(machine.keyWaitEnded() == true)
        #expect(machine.keyIsTaken(.outcome, isInputClosed: false) == .none, "the engine knows that its client waits for a ticket by now")
    }

    @Test func requestOfAClientThatClosedItsSideDoesNotWait() {
        for awaited in KeySearch.Awaited.allCases {
            var machine = Self.searching()
            #expect(machine.keyIsTaken(awaited, isInputClosed: true) == .leave)
        }
        var atOnce = Self.searching(.atOnce)
        #expect(atOnce.keyIsTaken(.outcome, isInputClosed: true) == .waitForTicket, "it is accepted without its client")
        var waiting = Self.searching(.atOnce)
        #expect(waiting.keyIsTaken(.store, isInputClosed: false) == .wait)
        #expect(waiting.keyIsTaken(.outcome, isInputClosed: false) == .none)
    }

    @Test mutating func outcomeOfAnotherIsComparedOnce() {
        _ = machine.keyIsTaken(.outcome, isInputClosed: false)
        #expect(machine.outcomeCame() == .compare)
        #expect(machine.hasOutcome && !machine.awaitsKey)
        #expect(machine.keyWaitEnded() == false)
        machine.ended()
        #expect(!machine.hasOutcome)
    }

    @Test mutating func nothingIsSentOnceTheProxyStops() {
        _ = machine.keyIsTaken(.outcome, isInputClosed: false)
        _ = machine.cutOff(.init(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: false))
        #expect(machine.keyIsFree() == .answerCutOff)
    }

    @Test mutating func lateKeyResultsDoNothing() {
        machine.ended()
        #expect(machine.keyIsFree() == .none)
        #expect(machine.outcomeCame() == .none)
        #expect(machine.keyIsTaken(.outcome, isInputClosed: false) == .none)
        #expect(!machine.awaitsKey && !machine.holdsKey && !machine.hasOutcome)
    }

    @Test mutating func cacheIsSearchedOnce() {
        machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture()))
        #expect(machine.cacheSearchBegan() == true)
        #expect(machine.phase == .searching(.cache))
        machine.rested()
        #expect(machine.cacheSearchBegan() == false)
        #expect(machine.phase == .parked)
    }
}
