import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

@Suite struct ExchangeMachineTests {
    private var generator = SeededGenerator(seed: 1)
    private let now = Timestamp.at(.seconds(1))
    private let get = RequestSummary(method: "GET")
    private let post = RequestSummary(method: "POST", body: .captured)

    private func machine(
        for holder: ExchangeMachine.Holder, _ phase: ExchangePhase = .parked, _ change: (inout Policy) -> Void = { _ in }
    ) -> ExchangeMachine {
        let rules = AttemptRules(policy: .fixture(change))
        return ExchangeMachine(for: holder, rules, phase: phase)
    }

    private func circumstances(_ request: RequestSummary, _ obstacle: ExchangeMachine.Obstacle? = nil) -> ExchangeMachine.Circumstances {
        .init(request: request, network: .init(), now: now, obstacle: obstacle)
    }

    // MARK: Phases

    @Test func everyPhaseIsReachedAndHasAnEnd() {
        func reached(from first: ExchangePhase) -> Set<ExchangePhase> {
            var all: Set<ExchangePhase> = [first]
            var left = [first]
            while let phase = left.popLast() {
                for next in phase.exits where all.insert(next).inserted { left.append(next) }
            }
            return all
        }
        // A preflight is made only for what waits. A request starts by being collected, that of a ticket by being read.
        #expect(reached(from: .collecting(for: .attempt)).union([.loading]) == Set(ExchangePhase.all))
        for phase in ExchangePhase.all { #expect(reached(from: phase).contains(.ended), "\(phase)") }
    }

    @Test func requestThatBecomesATicketKeepsItsAttempt() {
        for phase in ExchangePhase.all {
            var machine = machine(for: .client, phase)
            machine.becomeTicket(.unstored)
            #expect(machine.holder == .store(.unstored))
            #expect(machine.phase == ([.attempting, .withholding].contains(phase) ? phase : .parked))
        }
    }

    // MARK: Requests that are still arriving

    @Test(arguments: [RequestSummary.Body.captured, .arriving])
    mutating func failureOfAnArrivingRepeatableRequestIsJudgedOnceAllOfItHasCome(body: RequestSummary.Body) {
        var machine = machine(for: .client)
        _ = machine.startAttempt(.arrival, at: now)
        let arriving = circumstances(RequestSummary(method: "PUT", body: .arriving))
        let first = machine.attemptFailed(.reset, in: arriving, using: &generator)
        #expect(first == .collect)
        #expect(machine.phase == .collecting(for: .verdict))
        #expect(machine.attempts.counts.mayHaveBeenApplied)
        let early = machine.takeRecords()
        #expect(early.isEmpty)
        // The rest of a body that is still arriving then can no longer be kept.
        let step = machine.collected(in: circumstances(RequestSummary(method: "PUT", body: body)), using: &generator)
        switch (body, step) {
        case (.captured, .park?):
            let records = machine.takeRecords()
            #expect(records.map(\.failure?.kind) == [Failure.reset.kind])
        case (.arriving, .fail(_, .bodyNotReplayable)?): break
        default: Issue.record("\(body): \(String(describing: step))")
        }
    }

    @Test mutating func failureOfAnArrivingUnrepeatableRequestIsJudgedAtOnce() {
        var machine = machine(for: .client)
        _ = machine.startAttempt(.arrival, at: now)
        let step = machine.attemptFailed(.reset, in: circumstances(RequestSummary(method: "POST", body: .arriving)), using: &generator)
        #expect(step == .fail(machine.lastFailure ?? .refused, .maybeApplied))
        let later = machine.collected(in: circumstances(post), using: &generator)
        #expect(later == nil)
    }

    // MARK: Answers that break off

    @Test(arguments: [ExchangeMachine.Holder.client, .store(.unstored), .cache])
    mutating func brokenResponseIsRequestedAgainIfNoClientHasReadIt(holder: ExchangeMachine.Holder) {
        var machine = machine(for: holder)
        _ = machine.startAttempt(.dueTime, at: now)
        machine.deliveryBegan()
        var broken = Failure.reset
        broken.evidence = .answered
        let step = machine.attemptFailed(broken, in: circumstances(get), using: &generator)
        switch (holder, step) {
        case (.client, .breakOff(let failure)):
            #expect(failure.evidence == .answered)
            #expect(machine.takeRecords().map(\.verdict) == [.fail(.responseBegan)])
        case (.store, .park(let failure, _)), (.cache, .park(let failure, _)):
            #expect(failure.evidence == .maybeApplied, "its origin has acted on it")
            #expect(machine.attempts.counts.mayHaveBeenApplied)
        default:
            Issue.record("\(holder): \(step)")
        }
        #expect(machine.lastFailure?.kind == broken.kind)
    }

    @Test mutating func unrepeatableRequestKeepsItsPartialResponse() {
        var machine = machine(for: .store(.unstored))
        _ = machine.startAttempt(.dueTime, at: now)
        machine.deliveryBegan()
        #expect(machine.attemptFailed(.reset, in: circumstances(post), using: &generator) == .breakOff(.reset))
        #expect(machine.takeRecords().map(\.verdict) == [.deliver(.notRepeatable)])
    }

    @Test mutating func brokenResponseIsNotRequestedAgainWithoutLimit() {
        var machine = machine(for: .store(.unstored)) { $0.automaticAttemptsMax = 1 }
        _ = machine.startAttempt(.dueTime, at: now)
        machine.deliveryBegan()
        let step = machine.attemptFailed(.reset, in: circumstances(get), using: &generator)
        guard case .breakOff = step else {
            Issue.record("\(step)")
            return
        }
    }

    // MARK: Obstacles of our own

    @Test mutating func attemptWithoutAStartRecordIsNotCounted() {
        var machine = machine(for: .store(.unstored)) { $0.automaticAttemptsMax = 1 }
        _ = machine.startAttempt(.dueTime, at: now)
        let step = machine.attemptFailed(.refused, in: circumstances(post, .startNotRecorded), using: &generator)
        guard case .park(_, let parking) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(parking.rule == .store && parking.asks == nil && !parking.shutsGate)
        #expect(machine.attempts.attemptCount == 0 && machine.attempts.automaticLeft == 1)
    }

    @Test(arguments: [true, false])
    mutating func unreadableBodyMakesAnUnrepeatableTicketUndecided(isRepeatable: Bool) {
        var machine = machine(for: .store(.unstored))
        _ = machine.startAttempt(.dueTime, at: now)
        let request = isRepeatable ? RequestSummary(method: "PUT", body: .captured) : post
        let step = machine.attemptFailed(.reset, in: circumstances(request, .bodyUnreadable), using: &generator)
        guard case .park(let failure, let parking) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(parking.asks == (isRepeatable ? nil : .maybeApplied))
        #expect(failure.message == "The file of the request body could not be read completely.")
    }

    // MARK: Preflights

    @Test(arguments: [200, 404, 412])
    mutating func aPreflightCountsAsTheAttempt(status: Int) {
        var machine = machine(for: .store(.unstored)) { $0.preflight = Preflight() }
        #expect(machine.startPreflight(.dueTime, at: now) == 1)
        switch machine.preflightAnswered(status: status, at: now) {
        case .send(let number):
            #expect(status == 200 && number == 1 && machine.phase == .attempting)
            #expect(machine.takeRecords().isEmpty, "the attempt goes on")
        case .drop(let failure):
            #expect(status == 404 && failure.evidence == .neverSent)
        case .ask(let failure):
            #expect(status == 412 && failure.evidence == .neverSent)
        }
        #expect(machine.attempts.attemptCount == 1)
    }

    @Test mutating func aPreflightThatFailsHasSentNothing() {
        var machine = machine(for: .store(.unstored))
        _ = machine.startPreflight(.dueTime, at: now)
        let step = machine.attemptFailed(.reset, in: circumstances(post), using: &generator)
        guard case .park(let failure, let parking) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(failure.evidence == .neverSent && parking.asks == nil && !machine.attempts.counts.mayHaveBeenApplied)
        #expect(machine.attempts.attemptCount == 1)
    }

    // MARK: Attempts

    @Test mutating func attemptOnANewConnectionKeepsItsTrigger() {
        var machine = machine(for: .client)
        _ = machine.startAttempt(.admin, at: now)
        let stale = Failure.fixture(.connectionTerminated, phase: .sending, evidence: .maybeApplied, reusedConnection: true)
        #expect(machine.attemptFailed(stale, in: circumstances(get), using: &generator) == .again(.admin))
        #expect(machine.attempts.hasTriedNewConnection)
    }

    @Test mutating func responseWithARetriedStatusIsOfferedToThePendingSet() {
        var machine = machine(for: .client) { $0.retryOn = [.status(503)] }
        _ = machine.startAttempt(.arrival, at: now)
        #expect(machine.retries(status: 503) && !machine.retries(status: 500))
        let step = machine.answered(ResponseSummary(status: 503), sending: get, connection: nil, at: now, using: &generator)
        guard case .withhold(let failure, _) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(failure == .answered(503) && machine.phase == .withholding && machine.lastFailure == failure)
        #expect(machine.takeRecords().map(\.status) == [503])
    }
}
