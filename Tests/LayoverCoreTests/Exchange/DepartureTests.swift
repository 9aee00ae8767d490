import LayoverTestSupport
import Testing

@testable import LayoverCore

/// Exchanges whose client is gone. Contract: section 2, "When a client is gone".
struct DepartureTests {
    private func machine(_ phase: ExchangePhase, _ change: (inout Policy) -> Void = { _ in }) -> ExchangeMachine {
        ExchangeMachine(for: .client, AttemptRules(policy: .fixture(change)), phase: phase)
    }

    private func departure(_ change: (inout ExchangeMachine.Departure) -> Void = { _ in }) -> ExchangeMachine.Departure {
        var departure = ExchangeMachine.Departure(purpose: .transfer, method: "POST", isComplete: true, hasBegunSending: true)
        change(&departure)
        return departure
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "CUSTOM"]) func unsafeRequestThatIsSentGoesOnUntilItsHead(method: String) {
        var machine = machine(.attempting)
        #expect(machine.clientLeft(departure { $0.method = method }) == .unattended(.seconds(300)))
        #expect(machine.phase == .unattended)
        #expect(machine.clientLeft(departure()) == .none, "it is told twice")
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]) func safeRequestEndsAtOnce(method: String) {
        var machine = machine(.attempting)
        #expect(machine.clientLeft(departure { $0.method = method }) == .end)
    }

    @Test func requestThatCannotHaveBeenAppliedEndsAtOnce() {
        for change: (inout ExchangeMachine.Departure) -> Void in [
            { $0.isComplete = false }, { $0.hasBegunSending = false }, { $0.purpose = .dial }, { $0.purpose = .upgrade },
        ] {
            var machine = machine(.attempting)
            #expect(machine.clientLeft(departure(change)) == .end)
        }
    }

    @Test func policyLimitsTheUnattendedTime() {
        var short = machine(.attempting) { $0.unattendedMax = .seconds(10) }
        #expect(short.clientLeft(departure()) == .unattended(.seconds(10)))
        var none = machine(.attempting) { $0.unattendedMax = .zero }
        #expect(none.clientLeft(departure()) == .end)
        var keyed = machine(.collecting(for: .attempt)) { $0.unattendedMax = .zero }
        keyed.keySearchBegan()
        _ = keyed.keyIsFree()
        _ = keyed.startAttempt(.arrival, at: .at(.zero))
        #expect(keyed.clientLeft(departure()) == .unattended(.zero), "others are looked for first")
        #expect(Policy.ai.unattendedMax == .zero && Policy.standard.unattendedMax == .seconds(300))
    }

    /// A success may have been reported for it, so it is not cut at once, whatever the policy says.
    @Test func restOfAnAnsweredRequestHasALimit() {
        for (configured, used): (Duration, Duration) in [(.seconds(10), .seconds(10)), (.zero, .seconds(300))] {
            var machine = machine(.delivering) { $0.unattendedMax = configured }
            #expect(machine.clientLeft(departure { $0.onlyNeedsRequestSent = true }) == .sendRest(used))
            #expect(machine.phase == .unattended)
        }
        var incomplete = machine(.delivering)
        #expect(incomplete.clientLeft(departure { ($0.onlyNeedsRequestSent, $0.isComplete) = (true, false) }) == .end)
    }

    // MARK: Going on as a ticket

    private func adopting(_ phase: ExchangePhase, _ change: (inout Policy) -> Void = { _ in }) -> ExchangeMachine {
        machine(phase) {
            $0.clientGone = .adopt
            change(&$0)
        }
    }

    @Test(arguments: [ExchangePhase.parked, .attempting, .withholding]) func requestGoesOnAsATicketWhereThePolicySaysSo(
        phase: ExchangePhase
    ) {
        let leaving = departure { $0.storesTickets = true }
        var adopting = adopting(phase)
        #expect(adopting.clientLeft(leaving) == .adopt)
        #expect(adopting.phase == phase)
        var obstructed = self.adopting(phase)
        let step = obstructed.clientLeft(departure { ($0.storesTickets, $0.adoptionObstacle) = (true, .bodyTooLong) })
        #expect(step == .notAdopted(.bodyTooLong, then: phase == .attempting ? .unattended(.seconds(300)) : .end))
        for change: (inout ExchangeMachine.Departure) -> Void in [
            { $0.storesTickets = false }, { $0.isComplete = false }, { $0.purpose = .upgrade },
        ] {
            var machine = self.adopting(phase)
            var other = leaving
            change(&other)
            let step = machine.clientLeft(other)
            #expect(step == .end || step == .unattended(.seconds(300)))
            #expect(!machine.isLeftBehind(other))
        }
        var begun = self.adopting(.delivering)
        #expect(begun.clientLeft(leaving) == .end, "a part of the response has come")
        var passing = self.adopting(phase) { $0.mode = .pass }
        #expect(passing.clientLeft(leaving) != .adopt)
        var cancelling = machine(phase)
        #expect(cancelling.clientLeft(leaving) != .adopt)
    }

    @Test func requestThatIsBeingAcceptedGoesOn() {
        for phase: ExchangePhase in [.collecting(for: .ticket), .searching(.duplicateKey), .accepting] {
            var machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture()), phase: phase, ticket: .atOnce)
            #expect(machine.clientLeft(departure()) == .accept)
            #expect(machine.clientLeft(departure { $0.isComplete = false }) == .end)
        }
    }

    // MARK: A client that closes its side

    @Test func clientThatClosesItsSideIsStillAnsweredByItsFirstAttempt() {
        let whole = departure()
        let part = departure { $0.isComplete = false }
        for phase in ExchangePhase.all {
            let machine = machine(phase)
            #expect(machine.hasLeft(closingInputOf: part, isEntry: false), "\(phase)")
            #expect(machine.hasLeft(closingInputOf: whole, isEntry: false) == (phase == .parked), "\(phase)")
        }
        for awaited in KeySearch.Awaited.allCases {
            var waiting = machine(.searching(.duplicateKey))
            _ = waiting.keyIsTaken(awaited, isInputClosed: false)
            #expect(waiting.hasLeft(closingInputOf: whole, isEntry: false), "\(awaited)")
        }
        #expect(machine(.attempting).hasLeft(closingInputOf: whole, isEntry: true), "it has waited before")
        #expect(!machine(.delivering).hasLeft(closingInputOf: whole, isEntry: true))
    }

    @Test func failureIsAllThatAClientWithAClosedSideGets() {
        #expect(machine(.attempting).wouldWaitBehindClosedInput(departure(), after: .reset) == .fail(.reset))
        #expect(machine(.attempting).wouldWaitBehindClosedInput(departure(), after: nil) == .leave)
        let ticket = departure { $0.storesTickets = true }
        #expect(adopting(.attempting).wouldWaitBehindClosedInput(ticket, after: .reset) == .adopt)
        let unkept = departure { ($0.storesTickets, $0.adoptionObstacle) = (true, .bodyNotStored) }
        #expect(adopting(.attempting).wouldWaitBehindClosedInput(unkept, after: .reset) == .fail(.reset))
        var begun = machine(.attempting)
        begun.resumable = ResumableResponse(ResumableResponseTests.first(), to: ResumableResponseTests.request, done: 400)
        #expect(begun.wouldWaitBehindClosedInput(departure(), after: .reset) == .breakOff(.reset))
    }

    /// Its attempt is judged as that of a ticket, which it becomes, if it can be one.
    @Test func failureBehindAClosedSideIsJudgedAsThatOfATicketWhereTheRequestGoesOn() {
        let ticket = departure { $0.storesTickets = true }
        let unkept = departure { ($0.storesTickets, $0.adoptionObstacle) = (true, .bodyNotStored) }
        for (closedInput, isTicket): (ExchangeMachine.Departure?, Bool) in [(nil, false), (ticket, true), (unkept, false)] {
            var circumstances = ExchangeMachine.Circumstances(
                request: RequestSummary(method: "POST", body: .captured), network: .init(), now: .at(.seconds(1)))
            circumstances.closedInput = closedInput
            var machine = adopting(.attempting)
            var generator = SeededGenerator(seed: 1)
            let step = machine.attemptFailed(.reset, in: circumstances, using: &generator)
            var unknown = adopting(.attempting)
            let conflict = unknown.outcomeIsUnknown(
                after: .init(status: 412), isConflict: false, connection: nil, in: circumstances, using: &generator)
            switch (step, conflict) {
            case (.park(_, let one), .park(_, let other)): #expect(isTicket && one.asks == .maybeApplied && other.asks == .maybeApplied)
            case (.fail(_, .maybeApplied), .fail(_, .outcomeUnknown)): #expect(!isTicket)
            default: Issue.record("\(step), \(conflict)")
            }
            #expect(machine.holder == .client, "it is the client's until the ticket is asked for")
        }
    }

    /// After the final head the outcome is known, whatever the method.
    @Test(arguments: ["GET", "POST", "PUT"]) func responseEndsUnlessOthersShareIt(method: String) {
        var alone = machine(.delivering)
        #expect(alone.clientLeft(departure { $0.method = method }) == .end)
        var shared = machine(.delivering)
        let departure = departure {
            $0.method = method
            $0.mayBeShared = true
        }
        #expect(shared.clientLeft(departure) == .share)
        #expect(shared.phase == .unattended)
    }

    @Test func waitingRequestEndsWithItsClient() {
        let phases: [ExchangePhase] = [
            .collecting(for: .attempt), .collecting(for: .ticket), .searching(.cache), .searching(.duplicateKey), .accepting, .preflight,
            .withholding, .parked,
        ]
        for phase in phases {
            var machine = machine(phase)
            #expect(machine.clientLeft(departure()) == .end, "\(phase)")
            #expect(machine.phase == phase, "\(phase)")
        }
        var ended = machine(.ended)
        #expect(ended.clientLeft(departure()) == .none)
    }

    @Test(arguments: [true, false]) func failureWithoutAClientIsRecordedAndNothingFollows(isAborted: Bool) {
        var machine = machine(.collecting(for: .attempt))
        let now = Timestamp.at(.seconds(1))
        _ = machine.startAttempt(.arrival, at: now)
        _ = machine.clientLeft(departure())
        if isAborted { machine.attemptInterrupted(by: .command) }
        let failure = machine.unattendedFailed(.reset, at: now)
        #expect(failure.evidence == .maybeApplied && machine.attempts.counts.mayHaveBeenApplied)
        #expect(failure.kind == (isAborted ? .proxyInternalResponse : .connectionTerminated))
        let records = machine.takeRecords()
        #expect(records.count == 1 && records[0].failure == failure && records[0].verdict == nil)
    }
}
