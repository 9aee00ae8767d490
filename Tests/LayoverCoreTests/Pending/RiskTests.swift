import Testing

@testable import LayoverCore

/// Requests that may have been applied, and whose policy is asked once more whether they may be sent twice.
struct RiskTests {
    private static let vouching = Policy.fixture { $0.repeatable = true }
    private static let asking = Policy.fixture { $0.onMaybeApplied = .ask }
    private var bench = PendingBench(perOriginAttemptCountMax: 1)

    /// A POST whose policy vouches for it, that may have been applied, and waits for its time.
    private mutating func ticket(isRepeatable: Bool = false) -> EntryID {
        let id = bench.accepted {
            $0.policy = Self.vouching
            $0.isRepeatable = isRepeatable
        }
        bench.counted(id)
        _ = bench.fail(id, .reset, delay: .seconds(5))
        return id
    }

    private mutating func held(_ method: String = "POST", hasKey: Bool = false) -> EntryID {
        let id = EntryID(using: &bench.generator)
        var new = NewEntry(
            id: id, method: method, url: "\(PendingBench.origin)/", origin: PendingBench.origin, policy: Self.vouching,
            client: .init(address: "127.0.0.1"), createdAt: bench.now, attemptCount: 1, failure: .reset,
            parking: .init(delay: .seconds(5), shutsGate: false))
        new.request.hasIdempotencyKey = hasKey
        new.tally.counts.mayHaveBeenApplied = true
        _ = bench.handle(ParkRequested(new))
        return id
    }

    // MARK: A reload

    @Test mutating func ticketIsUndecidedWhenItsPolicyIsNoLongerRepeatable() {
        let id = ticket()
        #expect(bench.reroute(id, policy: .fixture()) == [])
        #expect(bench.why(id) == .maybeApplied)
        #expect(bench.set.incidents(now: bench.now).map(\.kind) == [.decision])
        #expect(bench.wait(.seconds(99)) == [])
        #expect(bench.command(.retry, id).0 == .conflict)
        let (result, actions) = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
        #expect(result == .done && actions.started == [id])
    }

    @Test mutating func heldRequestFailsOrBecomesUndecidedByItsNewPolicy() {
        let told = held()
        #expect(bench.reroute(told, policy: .fixture()).prefix(1) == [.end(told, .maybeApplied)])
        #expect(bench.state(told) == .failed)
        let asks = held()
        #expect(bench.reroute(asks, policy: Self.asking) == [])
        #expect(bench.why(asks) == .maybeApplied)
    }

    @Test(arguments: ["PUT", "POST"])
    mutating func idempotentRequestGoesOnAfterTheReload(method: String) {
        let held = held(method, hasKey: method == "POST")
        let ticket = ticket(isRepeatable: true)
        for id in [held, ticket] { #expect(bench.reroute(id, policy: .fixture()) == []) }
        #expect(bench.states([held, ticket]) == [.waiting, .waiting])
        #expect(Set(bench.wait(.seconds(99)).started).isSubset(of: [held, ticket]))
    }

    @Test mutating func neverSentRequestGoesOnAfterTheReload() {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (Self.vouching, false) }
        bench.counted(id, mayHaveBeenApplied: false)
        _ = bench.fail(id, .refused)
        _ = bench.reroute(id, policy: .fixture())
        #expect(bench.state(id) == .waiting)
        #expect(bench.wait(.seconds(99)).started == [id])
    }

    /// A person may have stopped it, or be asked about something else: a plain retry must not double it.
    @Test(arguments: [UndecidedReason.exhausted, .credentialsExpired, nil])
    mutating func heldRequestIsUndecidedAfterTheReload(why: UndecidedReason?) {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (Self.vouching, false) }
        bench.counted(id)
        _ = bench.fail(id, .reset, asks: why)
        if why == nil { _ = bench.command(.hold, id) }
        _ = bench.reroute(id, policy: .fixture())
        #expect(bench.state(id) == .undecided && bench.why(id) == .maybeApplied)
    }

    @Test mutating func retriedRequestIsUndecidedAfterTheReload() {
        let first = ticket()
        let id = ticket()
        _ = bench.command(.retry, first)
        _ = bench.command(.retry, id)
        #expect(bench.state(first) == .attempting && bench.state(id) == .waiting, "the window is one")
        for id in [first, id] { _ = bench.reroute(id, policy: .fixture()) }
        #expect(bench.state(first) == .attempting, "what is under way goes on")
        #expect(bench.why(id) == .maybeApplied)
    }

    @Test mutating func forceIsKeptAfterAReload() {
        let other = ticket()
        let id = ticket()
        for id in [other, id] { _ = bench.reroute(id, policy: .fixture()) }
        for id in [other, id] { _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk) }
        #expect(bench.states([other, id]) == [.attempting, .waiting])
        _ = bench.reroute(id, policy: Self.asking)
        #expect(bench.state(id) == .waiting)
        #expect(bench.deliver(other).started == [id])
    }

    @Test mutating func forceIsKeptIfTheStoreStoppedTheAttempt() {
        let id = ticket()
        _ = bench.reroute(id, policy: .fixture())
        _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
        _ = bench.fail(id, .refused, rule: .store)
        #expect(bench.state(id) == .waiting)
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.fail(id, .refused)
        #expect(bench.why(id) == .maybeApplied)
    }

    @Test mutating func undecidedTicketStaysUndecidedUnderARepeatablePolicy() {
        let id = bench.accepted { $0.isRepeatable = false }
        bench.counted(id)
        _ = bench.fail(id, .reset, asks: .maybeApplied, rule: .onMaybeApplied)
        #expect(bench.reroute(id, policy: Self.vouching) == [])
        #expect(bench.why(id) == .maybeApplied)
        #expect(bench.wait(.seconds(99)).started == [])
    }

    // MARK: A verdict of yesterday

    @Test mutating func failureAfterTheReloadMakesTheEntryUndecided() {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (Self.vouching, false) }
        #expect(bench.state(id) == .attempting)
        _ = bench.reroute(id, policy: .fixture())
        bench.counted(id)
        _ = bench.fail(id, .reset)
        #expect(bench.why(id) == .maybeApplied)
        #expect(bench.wait(.seconds(99)).started == [])
    }

    /// Its exchange judged by the policy of before: the engine knew of the reload first.
    @Test(arguments: [false, true]) mutating func failureOfAHeldRequestAfterTheReloadIsJudgedByItsNewPolicy(asks: Bool) {
        let id = held()
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.reroute(id, policy: asks ? Self.asking : .fixture())
        #expect(bench.state(id) == .attempting, "what is under way goes on")
        let actions = bench.fail(id, .reset)
        #expect(actions.contains(.end(id, .maybeApplied)) == !asks)
        #expect(bench.why(id) == (asks ? .maybeApplied : nil))
        #expect(bench.state(id) == (asks ? .undecided : .failed))
        #expect(bench.wait(.seconds(99)).started == [])
    }

    @Test mutating func attemptsLeftAreThoseOfTheReloadedPolicy() {
        let id = bench.parked(.reset)
        #expect(bench.wait(.seconds(5)).started == [id])
        _ = bench.reroute(id, policy: .fixture { $0.automaticAttemptsMax = 9 })
        _ = bench.fail(id, .refused, automaticLeft: 3)
        #expect(bench.entry(id)?.automaticLeft == 9, "none of its attempts was counted as automatic")
    }

    /// The exchange made its second attempt, and the policy by which it judged that one allowed more.
    private mutating func attempting(_ onExhausted: Policy.ExhaustedRule, _ onMaybeApplied: Policy.MaybeAppliedRule? = nil) -> EntryID {
        let id = bench.parked(.reset)
        bench.counted(id)
        #expect(bench.wait(.seconds(5)).started == [id])
        let policy = Policy.fixture {
            ($0.automaticAttemptsMax, $0.onExhausted, $0.onMaybeApplied) = (2, onExhausted, onMaybeApplied)
        }
        _ = bench.reroute(id, route: nil, policy: policy, automaticLeft: 1, parentProxyGate: nil)
        bench.counted(id, all: 2, automatic: 2)
        return id
    }

    @Test(arguments: [Policy.ExhaustedRule.fail, .ask, .standIn(StandInResponse(status: 200))])
    mutating func noAttemptFollowsIfTheReloadedPolicyLeavesNone(rule: Policy.ExhaustedRule) {
        let id = attempting(rule)
        let actions = bench.fail(id, .reset, automaticLeft: 3)
        switch rule {
        case .fail: #expect(actions.contains(.end(id, .exhausted(nil))))
        case .ask: #expect(bench.why(id) == .exhausted)
        case .standIn(let response): #expect(actions.contains(.end(id, .exhausted(response))))
        }
        #expect(bench.state(id) == (rule == .ask ? .undecided : .failed))
        #expect(bench.wait(.seconds(99)).started == [])
    }

    @Test mutating func retriedStatusIsDeliveredIfTheReloadedPolicyLeavesNoAttempt() {
        let id = attempting(.fail)
        #expect(bench.status(id).contains(.deliverResponse(id, .exhausted)))
        #expect(bench.state(id) == .attempting)
    }

    @Test mutating func laterRequestOfTheOutageAsksTooIfTheReloadedPolicyLeavesNoAttempt() {
        let id = attempting(.ask)
        _ = bench.fail(id, .refused, automaticLeft: 3)
        let later = bench.parked(policy: .ask)
        for id in [id, later] { #expect(bench.why(id) == .exhausted) }
    }

    @Test(arguments: Policy.MaybeAppliedRule.allCases)
    mutating func unknownOutcomeIsTheEndIfTheReloadedPolicyLeavesNoAttempt(rule: Policy.MaybeAppliedRule) {
        let id = attempting(.fail, rule)
        let actions = bench.fail(id, .outcomeUnknown(status: 409), rule: .outcomeUnknown, automaticLeft: 3)
        #expect(actions.contains(.end(id, .maybeApplied)) == (rule == .fail))
        #expect(bench.why(id) == (rule == .ask ? .maybeApplied : nil))
        #expect(bench.state(id) == (rule == .ask ? .undecided : .failed))
        #expect(bench.wait(.seconds(99)).started == [])
    }

    @Test mutating func attemptThatAPersonEndedAsksIfTheReloadedPolicyLeavesNone() {
        let id = attempting(.fail)
        _ = bench.fail(id, .reset, rule: .aborted, automaticLeft: 3)
        #expect(bench.why(id) == .exhausted)
    }

    /// The policy by which this ticket is to be judged allows the attempt that is under way only.
    private mutating func ticketAttemptingOnce(mayHaveBeenApplied: Bool) -> EntryID {
        let id = bench.accepted()
        let policy = Policy.fixture { $0.automaticAttemptsMax = 1 }
        _ = bench.reroute(id, route: nil, policy: policy, automaticLeft: 0, parentProxyGate: nil)
        bench.counted(id, mayHaveBeenApplied: mayHaveBeenApplied)
        return id
    }

    /// The request is in no incident yet, because this is its first attempt.
    @Test mutating func firstAttemptThatAPersonEndedAsksInAnIncidentIfTheReloadedPolicyLeavesNone() {
        let id = ticketAttemptingOnce(mayHaveBeenApplied: false)
        _ = bench.fail(id, .refused, rule: .aborted, automaticLeft: 3)
        #expect(bench.why(id) == .exhausted)
        #expect(bench.entry(id)?.incident != nil)
    }

    private static let part = ResumeProgress(done: 100, total: 200, times: 1)

    /// The client would hang with a part of its response until its time is over.
    @Test mutating func clientWithAPartOfItsResponseIsCutOffIfTheReloadedPolicyLeavesNoAttempt() {
        let id = attempting(.ask)
        #expect(bench.fail(id, .reset, automaticLeft: 3, resume: Self.part).contains(.end(id, .exhausted(nil))))
    }

    /// The store has the part of the response, and no client waits for the rest.
    @Test mutating func ticketWithAPartOfItsResponseIsTriedAgainThoughTheReloadedPolicyLeavesNoAttempt() {
        let id = ticketAttemptingOnce(mayHaveBeenApplied: true)
        _ = bench.fail(id, .reset, automaticLeft: 3, resume: Self.part)
        #expect(bench.state(id) == .waiting)
        #expect(bench.wait(.seconds(1)).started == [id])
    }

    /// An attempt that was given up for a change of the network does not count, so the next one needs none left.
    @Test mutating func attemptThatWasGivenUpIsMadeAgainThoughTheReloadedPolicyLeavesNone() {
        let id = attempting(.fail)
        _ = bench.fail(id, .refused, rule: .networkChanged, automaticLeft: 3)
        #expect(bench.state(id) == .waiting)
    }

    @Test mutating func retriedStatusIsDeliveredIfTheNewPolicyIsNotRepeatable() {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (Self.vouching, false) }
        _ = bench.reroute(id, policy: .fixture())
        bench.counted(id)
        #expect(bench.status(id).contains(.deliverResponse(id, .notRepeatable)))
        #expect(bench.state(id) == .attempting)
    }

    // MARK: A restart

    @Test mutating func ticketIsUndecidedAfterARestartWithAnotherPolicy() {
        let id = ticket()
        _ = bench.restart(policy: .fixture())
        #expect(bench.why(id) == .maybeApplied)
        #expect(bench.wait(.seconds(99)).started == [])
        // And as it is on disk now, it asks after the next one too.
        _ = bench.restart(policy: .fixture())
        #expect(bench.why(id) == .maybeApplied)
    }

    @Test mutating func ticketKeepsWaitingAfterARestartWithTheSamePolicy() {
        let id = ticket()
        _ = bench.restart(policy: Self.vouching)
        #expect(bench.state(id) == .waiting)
        #expect(bench.wait(.seconds(5)).started == [id])
    }

    @Test mutating func forceIsKeptAfterARestart() {
        let id = ticket()
        _ = bench.reroute(id, policy: .fixture())
        _ = bench.mode(.offline)
        _ = bench.command(.force, id, acknowledgement: EntryCommand.duplicateRisk)
        #expect(bench.state(id) == .waiting)
        #expect(bench.restart(policy: .fixture()).started == [id])
        #expect(bench.entry(id)?.isForced == true)
    }

    /// Found under way it was sent under the old rule, and is judged by the new one.
    @Test(arguments: [true, false])
    mutating func attemptUnderWayIsJudgedByTheNewPolicy(vouches: Bool) {
        let id = bench.accepted { ($0.policy, $0.isRepeatable) = (vouches ? .fixture() : Self.vouching, false) }
        let actions = bench.restart(policy: vouches ? Self.vouching : .fixture())
        #expect(actions.started == (vouches ? [id] : []))
        #expect(bench.why(id) == (vouches ? nil : .maybeApplied))
    }
}
