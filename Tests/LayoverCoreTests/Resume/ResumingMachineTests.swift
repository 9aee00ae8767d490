import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// Responses that break off, in the machine of an exchange, for each kind of holder.
@Suite struct ResumingMachineTests {
    private var generator = SeededGenerator(seed: 1)
    private let circumstances = ExchangeMachine.Circumstances(
        request: RequestSummary(method: "GET"), network: .init(), now: .at(.seconds(1)))
    private static let total = 1 << 20

    /// The machine of an exchange whose response is on its way, and of which so many bytes have come.
    private static func machine(for holder: ExchangeMachine.Holder, done: Int, _ change: (inout Policy) -> Void = { _ in }) throws
        -> ExchangeMachine
    {
        var machine = ExchangeMachine(for: holder, AttemptRules(policy: .fixture(change)), phase: .parked)
        _ = machine.startAttempt(.dueTime, at: .at(.seconds(1)))
        machine.deliveryBegan()
        machine.resumable = try part(done)
        return machine
    }

    private static func part(_ done: Int) throws -> ResumableResponse {
        var head = ResumeFacts(status: 200, contentLength: total)
        head.entityTag = "\"v1\""
        let request = ResumableRequest(method: "GET", purpose: .transfer, hasRange: false, mayGoElsewhere: false)
        return try #require(ResumableResponse(head, to: request, done: done))
    }

    private static func rest(from first: Int, tag: String = "\"v1\"") -> ResumeFacts {
        var head = ResumeFacts(status: 206)
        (head.entityTag, head.contentRange, head.contentRangeCount) = (tag, "bytes \(first)-\(total - 1)/\(total)", 1)
        return head
    }

    /// Breaks off, waits, and begins the attempt for the rest.
    /// - Returns: How long it waits.
    @discardableResult
    private mutating func breakAndBegin(_ machine: inout ExchangeMachine) -> Duration? {
        let step = machine.attemptFailed(.reset, in: circumstances, using: &generator)
        guard case .park(_, let parking) = step else {
            Issue.record("\(step)")
            return nil
        }
        machine.rested()
        _ = machine.startAttempt(.dueTime, at: circumstances.now)
        return parking.delay
    }

    /// The part that has come is what is gone on with, once. Of an attempt without a response none has come.
    @Test mutating func partThatHasComeIsTakenOverWhereAResponseBreaksOff() throws {
        var circumstances = circumstances
        var machine = ExchangeMachine(for: .client, AttemptRules(policy: .fixture()), phase: .parked)
        circumstances.part = try Self.part(200)
        _ = machine.startAttempt(.dueTime, at: circumstances.now)
        _ = machine.attemptFailed(.refused, in: circumstances, using: &generator)
        #expect(machine.resumable == nil)
        for done in [200, 300] {
            circumstances.part = try Self.part(done)
            machine.rested()
            _ = machine.startAttempt(.dueTime, at: circumstances.now)
            machine.deliveryBegan()
            _ = machine.attemptFailed(.reset, in: circumstances, using: &generator)
            #expect(machine.resumable?.done == 200)
        }
    }

    @Test(arguments: [ExchangeMachine.Holder.client, .store(.unstored), .cache])
    mutating func attemptsAndDelayStartOverAfterEnoughProgress(holder: ExchangeMachine.Holder) throws {
        let min = ResumableResponse.progressMin
        var machine = try Self.machine(for: holder, done: 100)
        var counts: [Int] = []
        var delays: [Duration?] = []
        for part in [min - 101, 1, 0] {
            delays.append(breakAndBegin(&machine))
            counts.append(machine.attempts.counts.automatic)
            let first = machine.resumable?.done ?? 0
            #expect(machine.continued(by: Self.rest(from: first), in: circumstances, using: &generator) == .goOn)
            _ = machine.continuationCame(part)
        }
        delays.append(breakAndBegin(&machine))
        counts.append(machine.attempts.counts.automatic)
        #expect(counts == [2, 3, 2, 3], "after 64 KiB, once")
        #expect(delays == [1, 2, 1, 2].map { .seconds($0) }, "and the delay with them")
    }

    /// Bytes that come a second time, because what had come was of no use, are no progress.
    @Test mutating func attemptsDoNotStartOverForTheSameBytes() throws {
        let done = ResumableResponse.progressMin + 1
        var machine = try Self.machine(for: .store(.unstored), done: done)
        breakAndBegin(&machine)
        #expect(machine.attempts.counts.automatic == 2)
        #expect(machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator) == .replace)
        for count in 3...4 {
            machine.deliveryBegan()
            machine.resumable = try Self.part(done)
            breakAndBegin(&machine)
            #expect(machine.attempts.counts.automatic == count)
            _ = machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator)
        }
    }

    enum Continuation: CaseIterable { case replaced, changed, notSatisfiable, tooLong }

    /// A client has read what came. Nobody has used what is on its way to the store or the cache.
    @Test(arguments: [ExchangeMachine.Holder.client, .store(.unstored), .cache], Continuation.allCases)
    mutating func invalidContinuationIsRefused(holder: ExchangeMachine.Holder, continuation: Continuation) throws {
        var machine = try Self.machine(for: holder, done: 100)
        breakAndBegin(&machine)
        let step: ExchangeMachine.ContinuationStep
        switch continuation {
        case .replaced: step = machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator)
        case .changed: step = machine.continued(by: Self.rest(from: 100, tag: "\"v2\""), in: circumstances, using: &generator)
        case .notSatisfiable: step = machine.continued(by: ResumeFacts(status: 416), in: circumstances, using: &generator)
        case .tooLong:
            _ = machine.continued(by: Self.rest(from: 100), in: circumstances, using: &generator)
            #expect(machine.continuationCame(Self.total) == .refused(.tooLong))
            step = .failed(machine.refused(.tooLong, in: circumstances, using: &generator))
        }
        switch (holder, continuation, step) {
        case (.client, _, .failed(.breakOff(let failure))), (.store, _, .failed(.park(let failure, _))),
            (.cache, _, .failed(.park(let failure, _))):
            #expect(failure.kind == .httpResponseIncomplete)
            #expect(holder == .client || continuation != .replaced)
        case (.store, .replaced, .replace), (.cache, .replaced, .replace): break
        default: Issue.record("\(step)")
        }
        #expect((machine.resumable == nil) == (holder != .client), "all of it is asked for")
    }

    /// An origin that is away when the last attempt is made: the ticket fails as any other does.
    @Test mutating func ticketWithoutAttemptsLeftFailsAsAnyOther() throws {
        var machine = try Self.machine(for: .store(.unstored), done: 100) {
            $0.automaticAttemptsMax = 2
        }
        breakAndBegin(&machine)
        let step = machine.attemptFailed(.reset, in: circumstances, using: &generator)
        if case .fail(_, .exhausted) = step { return }
        Issue.record("\(step)")
    }

    /// An origin that is there but not well when the last attempt is made: its response counts, and never the part that came.
    @Test(arguments: [false, true], [nil, Duration.seconds(7200)])
    mutating func lastResponseOfABusyOriginReplacesThePart(hasStandIn: Bool, retryAfter: Duration?) throws {
        var machine = try Self.machine(for: .store(.unstored), done: 100) { policy in
            policy.automaticAttemptsMax = retryAfter == nil ? 2 : nil
            if hasStandIn { policy.onExhausted = .standIn(.init(status: 200, fields: [], body: "")) }
        }
        breakAndBegin(&machine)
        var head = ResumeFacts(status: 503)
        head.retryAfter = retryAfter
        #expect(machine.continued(by: head, in: circumstances, using: &generator) == .replace)
        #expect(machine.resumable == nil)
    }

    /// An invalid continuation at the last attempt: the ticket ends as its policy says, and is not delivered.
    @Test(arguments: [404, 416], [false, true])
    mutating func ticketEndsAsExhaustedWhereTheLastResponseIsNotTheRest(status: Int, hasStandIn: Bool) throws {
        var machine = try Self.machine(for: .store(.unstored), done: 100) { policy in
            policy.automaticAttemptsMax = 2
            if hasStandIn { policy.onExhausted = .standIn(.init(status: 200, fields: [], body: "")) }
        }
        breakAndBegin(&machine)
        let step = machine.continued(by: ResumeFacts(status: status), in: circumstances, using: &generator)
        switch (step, hasStandIn) {
        case (.failed(.fail(let failure, .exhausted)), false): #expect(failure.kind == .httpResponseIncomplete)
        case (.failed(.standIn), true): break
        default: Issue.record("\(step)")
        }
    }

    /// A status that asks to come later is waited for, at least as long as it says; what is longer than the policy allows ends it.
    @Test(arguments: [408, 425, 429, 500, 503])
    mutating func statusInsteadOfTheRestIsWaitedFor(status: Int) throws {
        for (seconds, expected) in [(nil, 5), (3, 5), (7, 7), (3600, 3600), (3601, nil)] as [(Int?, Int?)] {
            var machine = try Self.machine(for: .client, done: 100) { $0.delay = DelaySchedule(.constant(.seconds(5)), jitter: .none) }
            breakAndBegin(&machine)
            var head = ResumeFacts(status: status)
            head.retryAfter = seconds.map { .seconds($0) }
            let step = machine.continued(by: head, in: circumstances, using: &generator)
            switch (step, expected) {
            case (.failed(.park(_, let parking)), let expected?): #expect(parking.delay == .seconds(expected))
            case (.failed(.breakOff), nil): break
            default: Issue.record("\(status), \(seconds ?? -1): \(step)")
            }
            #expect(machine.resumable != nil)
        }
    }

    /// The connection broke when the last byte had come.
    @Test(arguments: [ExchangeMachine.Holder.client, .store(.unstored), .cache])
    mutating func responseThatBreaksBehindItsLastByteIsWhole(holder: ExchangeMachine.Holder) throws {
        var machine = try Self.machine(for: holder, done: Self.total)
        #expect(machine.attemptFailed(.reset, in: circumstances, using: &generator) == .finish)
        machine = try Self.machine(for: holder, done: Self.total - 1)
        guard case .park = machine.attemptFailed(.reset, in: circumstances, using: &generator) else {
            Issue.record("a byte is missing")
            return
        }
        #expect(machine.resumable?.range == "bytes=\(Self.total - 1)-")
    }
}
