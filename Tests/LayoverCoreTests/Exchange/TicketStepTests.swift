import LayoverTestSupport
import Testing

@testable import LayoverCore

/// How an exchange becomes a ticket.
struct TicketStepTests {
    typealias Moment = ExchangeMachine.TicketMoment

    private func machine(_ phase: ExchangePhase, _ moment: Moment = .afterWait) -> ExchangeMachine {
        ExchangeMachine(for: .client, AttemptRules(policy: .fixture()), phase: phase, ticket: moment)
    }

    /// A ticket is wanted of a request that is there whole.
    private func want(
        _ machine: inout ExchangeMachine, _ purpose: RequestPurpose = .transfer, isComplete: Bool = true, storesTickets: Bool = true,
        isLast: Bool = false
    ) -> ExchangeMachine.TicketStep {
        machine.ticketIsWanted(purpose, isComplete: isComplete, storesTickets: storesTickets, isLast: isLast)
    }

    private static let pending: [ExchangePhase] = [.attempting, .withholding, .parked]

    // MARK: The body

    @Test func bodyThatMayHaveTokensIsReadFirst() {
        for (isComplete, isOverMax, isRead) in [(false, false, true), (true, false, false), (false, true, false)] {
            var machine = machine(.collecting(for: .attempt))
            #expect(machine.readsBodyFirst(isComplete: isComplete, isOverMax: isOverMax) == isRead)
            #expect((machine.bodyWasRead(hasTokens: false) != nil) == isRead)
        }
    }

    @Test func requestWithTokensIsAcceptedBeforeAnyAttempt() {
        var machine = machine(.collecting(for: .attempt), .whenAway)
        _ = machine.readsBodyFirst(isComplete: false, isOverMax: false)
        #expect(machine.bodyWasRead(hasTokens: true) == .chooseTicket)
        #expect(machine.phase == .collecting(for: .ticket) && machine.isAcceptedAtOnce)
    }

    @Test func requestWithoutTokensIsTried() {
        var machine = machine(.collecting(for: .attempt))
        _ = machine.readsBodyFirst(isComplete: false, isOverMax: false)
        #expect(machine.bodyWasRead(hasTokens: false) == .attempt)
        #expect(machine.bodyWasRead(hasTokens: false) == nil, "it is read once")
        #expect(machine.phase == .collecting(for: .attempt))
    }

    @Test func exchangeThatEndedWhileItsBodyWasReadDoesNothing() {
        var machine = machine(.collecting(for: .attempt))
        _ = machine.readsBodyFirst(isComplete: false, isOverMax: false)
        machine.ended()
        #expect(machine.bodyWasRead(hasTokens: true) == ExchangeMachine.BodyStep.none)
    }

    @Test(arguments: ExchangePhase.all) func bodyWithoutRoomWaitsUnlessItIsNeededWhole(phase: ExchangePhase) {
        var machine = machine(phase)
        let step = machine.bodyIsStuck(hasTokens: true)
        switch phase {
        case .collecting(.ticket): #expect(step == .refuse)
        case .collecting(.verdict): #expect(step == .judge)
        case .ended: #expect(step == .none)
        default: #expect(step == .wait)
        }
    }

    @Test func bodyWithoutRoomIsTriedUnlessItHasATokenAlready() {
        for (hasTokens, step): (Bool, ExchangeMachine.StuckStep) in [(true, .refuse), (false, .attempt)] {
            var machine = machine(.collecting(for: .attempt))
            _ = machine.readsBodyFirst(isComplete: false, isOverMax: false)
            #expect(machine.bodyIsStuck(hasTokens: hasTokens) == step)
            #expect(machine.bodyIsStuck(hasTokens: hasTokens) == .wait, "it is not read first any more")
        }
    }

    // MARK: From hold to ticket

    @Test func engineIsAskedOnce() {
        for phase in Self.pending {
            var machine = machine(phase)
            #expect(want(&machine) == .ask && machine.hasAskedForTicket)
            #expect(want(&machine) == .none && want(&machine, isLast: true) == .none)
        }
    }

    @Test func requestThatCannotBecomeATicketDeclines() {
        for phase in ExchangePhase.all where !Self.pending.contains(phase) {
            var machine = machine(phase)
            #expect(want(&machine) == .decline, "\(phase)")
        }
        var upgrade = machine(.parked)
        #expect(want(&upgrade, .upgrade) == .decline)
        var begun = machine(.attempting)
        begun.resumable = ResumableResponse(ResumableResponseTests.first(), to: ResumableResponseTests.request, done: 400)
        #expect(want(&begun) == .decline, "its client has a part of the response")
        var unkept = machine(.parked)
        #expect(want(&unkept, storesTickets: false) == .declineForNow && unkept.asksAgain)
    }

    @Test func restOfTheRequestIsWaitedForUnlessTheTimeIsOver() {
        var machine = machine(.parked)
        #expect(want(&machine, isComplete: false) == .awaitRequest && machine.isTicketDue)
        #expect(want(&machine) == .ask && !machine.isTicketDue)
        var last = self.machine(.parked)
        #expect(want(&last, isComplete: false, isLast: true) == .decline)
    }

    @Test func ticketIsTakenWhenTheOriginIsAway() {
        for moment: Moment in [.never, .atOnce, .afterWait, .atEnd] {
            var machine = machine(.parked, moment)
            let wants = machine.originWentAway()
            #expect(!wants, "\(moment)")
        }
        var machine = machine(.parked, .whenAway)
        #expect(!machine.asksAgain, "its origin has not been away")
        for _ in 1...2 {
            let wants = machine.originWentAway()
            #expect(wants && machine.asksAgain)
        }
        machine.becomeTicket(.unstored)
        let wants = machine.originWentAway()
        #expect(!wants && !machine.asksAgain, "there is no client any more")
    }

    // MARK: The answer of the engine

    @Test func engineIsAskedAgainUnlessItsAnswerIsFinal() {
        var refused = machine(.parked)
        _ = want(&refused)
        refused.ticketWasAnswered(storesBody: false, isInDoubt: false)
        #expect(want(&refused) == .ask)
        var doubtful = machine(.parked)
        _ = want(&doubtful)
        doubtful.ticketWasAnswered(storesBody: true, isInDoubt: true)
        #expect(!doubtful.hasAskedForTicket && !doubtful.mayEndAsTicket)
        #expect(want(&doubtful) == .ask, "the next insertion takes the place of the first")
        for storesBody in [false, true] {
            doubtful.ticketWasAnswered(storesBody: storesBody, isInDoubt: storesBody)
            #expect(!doubtful.mayEndAsTicket, "the first one may be in the store")
            #expect(want(&doubtful) == .ask && !doubtful.mayEndAsTicket)
        }
        var accepted = machine(.parked)
        _ = want(&accepted)
        accepted.ticketWasAnswered(storesBody: true, isInDoubt: false)
        #expect(want(&accepted) == .none && accepted.hasAskedForTicket)
        var unkept = machine(.parked)
        _ = want(&unkept)
        unkept.ticketBodyWasNotStored()
        #expect(want(&unkept) == .ask)
    }

    /// There is nobody left to ask for.
    @Test func adoptedRequestInDoubtIsNotAskedForAgain() {
        var machine = machine(.parked)
        _ = want(&machine)
        machine.becomeTicket(.unstored)
        machine.ticketWasAnswered(storesBody: true, isInDoubt: true)
        #expect(want(&machine) == .none)
    }

    @Test func clientGetsATicketAtTheStopUnlessItTakesNone() {
        #expect(!machine(.parked, .never).mayEndAsTicket)
        for moment: Moment in [.afterWait, .atEnd, .whenAway, .away] { #expect(machine(.parked, moment).mayEndAsTicket) }
        var asked = machine(.parked)
        _ = want(&asked)
        #expect(asked.mayEndAsTicket, "the answer is on its way")
    }

    @Test(arguments: ExchangePhase.all) func storedTicketAtRestNeedsNoExchange(phase: ExchangePhase) {
        for result in ExchangeMachine.AdoptionResult.allCases {
            var machine = ExchangeMachine(for: .store(.unstored), AttemptRules(policy: .fixture()), phase: phase, ticket: .afterWait)
            let step = machine.adoptionEnded(result)
            switch result {
            case .stored:
                #expect(step == (phase == .parked ? .rest : .none))
                #expect(machine.holder == .store(.stored))
            case .refused:
                #expect(step == (phase == .ended ? .tellOthers : .none))
                #expect(machine.holder == .store(.refused))
            case .pointless:
                #expect(step == (phase == .ended ? .tellOthers : .cancel))
                #expect(machine.holder == .store(.unstored))
            }
            #expect(machine.phase == phase)
        }
    }

    // MARK: Others

    @Test func attemptWithoutAClientBecomesThatOfTheTicketOfOthers() {
        var departure = ExchangeMachine.Departure(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: true)
        departure.storesTickets = true
        var machine = machine(.unattended, .never)
        var takesOver = machine.othersWantTicket(departure, isUnderWay: false)
        #expect(!takesOver, "a part of the response has come")
        var obstructed = departure
        obstructed.adoptionObstacle = .bodyNotStored
        takesOver = machine.othersWantTicket(obstructed, isUnderWay: true)
        #expect(!takesOver)
        takesOver = machine.othersWantTicket(departure, isUnderWay: true)
        #expect(takesOver && machine.phase == .attempting)
        var held = self.machine(.attempting)
        takesOver = held.othersWantTicket(departure, isUnderWay: true)
        #expect(!takesOver, "its client is there")
    }
}
