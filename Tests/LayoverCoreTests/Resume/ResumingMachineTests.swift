import LayoverTestSupport
import Retry
import Testing

@testable import LayoverCore

/// What the machine of an exchange does with a response that breaks off, by its recipient.
@Suite struct ResumingMachineTests {
    private var generator = SeededGenerator(seed: 1)
    private let circumstances = ExchangeMachine.Circumstances(
        request: RequestSummary(method: "GET"), isNetworkAway: false, now: .at(.seconds(1)))
    private static let total = 1 << 20

    /// The machine of an exchange whose response is on its way, and of which so many bytes have come.
    private static func machine(for recipient: ExchangeMachine.Recipient, done: Int, _ change: (inout Policy) -> Void = { _ in }) throws
        -> ExchangeMachine
    {
        var machine = ExchangeMachine(
            for: recipient, AttemptRules(policy: .fixture(change), isTicket: recipient == .store), phase: .parked)
        _ = machine.startAttempt(.dueTime, at: .at(.seconds(1)))
        machine.enter(.delivering)
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
    private mutating func breakAndBegin(_ machine: inout ExchangeMachine) {
        let step = machine.attemptFailed(.reset, in: circumstances, using: &generator)
        guard case .park = step else {
            Issue.record("\(step)")
            return
        }
        machine.enter(.parked)
        _ = machine.startAttempt(.dueTime, at: circumstances.now)
    }

    @Test(arguments: [ExchangeMachine.Recipient.client, .store, .cache])
    mutating func attemptsStartOverAfterEnoughProgress(recipient: ExchangeMachine.Recipient) throws {
        let min = ResumableResponse.progressMin
        var machine = try Self.machine(for: recipient, done: 100)
        var counts: [Int] = []
        for part in [min - 101, 1, 0] {
            breakAndBegin(&machine)
            counts.append(machine.rules.counts.automatic)
            let first = machine.resumable?.done ?? 0
            #expect(machine.continued(by: Self.rest(from: first), in: circumstances, using: &generator) == .goOn)
            _ = machine.continuationCame(part)
        }
        breakAndBegin(&machine)
        counts.append(machine.rules.counts.automatic)
        #expect(counts == [2, 3, 2, 3], "after 64 KiB, once")
    }

    /// Bytes that come a second time, because what had come was of no use, are no progress.
    @Test mutating func attemptsDoNotStartOverForTheSameBytes() throws {
        let done = ResumableResponse.progressMin + 1
        var machine = try Self.machine(for: .store, done: done)
        breakAndBegin(&machine)
        #expect(machine.rules.counts.automatic == 2)
        #expect(machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator) == .replace)
        for count in 3...4 {
            machine.enter(.delivering)
            machine.resumable = try Self.part(done)
            breakAndBegin(&machine)
            #expect(machine.rules.counts.automatic == count)
            _ = machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator)
        }
    }

    enum Continuation: CaseIterable { case replaced, changed, notSatisfiable, tooLong }

    /// A client has read what came. Nobody has used what is on its way to the store or the cache.
    @Test(arguments: [ExchangeMachine.Recipient.client, .store, .cache], Continuation.allCases)
    mutating func whatIsNoContinuation(recipient: ExchangeMachine.Recipient, continuation: Continuation) throws {
        var machine = try Self.machine(for: recipient, done: 100)
        breakAndBegin(&machine)
        let step: ExchangeMachine.ContinuationStep
        switch continuation {
        case .replaced: step = machine.continued(by: ResumeFacts(status: 200), in: circumstances, using: &generator)
        case .changed: step = machine.continued(by: Self.rest(from: 100, tag: "\"v2\""), in: circumstances, using: &generator)
        case .notSatisfiable: step = machine.continued(by: ResumeFacts(status: 416), in: circumstances, using: &generator)
        case .tooLong:
            _ = machine.continued(by: Self.rest(from: 100), in: circumstances, using: &generator)
            #expect(machine.continuationCame(Self.total) == .refused(.tooLong))
            step = machine.refused(.tooLong, in: circumstances, using: &generator)
        }
        switch (recipient, continuation, step) {
        case (.client, _, .breakOff(let failure)), (.store, _, .park(let failure, _)), (.cache, _, .park(let failure, _)):
            #expect(failure.kind == .httpResponseIncomplete)
            #expect(recipient == .client || continuation != .replaced)
        case (.store, .replaced, .replace), (.cache, .replaced, .replace): break
        default: Issue.record("\(step)")
        }
        #expect((machine.resumable == nil) == (recipient != .client), "all of it is asked for")
    }

    /// An origin that is away when the last attempt is made: the ticket fails as any other does.
    @Test mutating func ticketWithoutAttemptsLeftFailsAsAnyOther() throws {
        var machine = try Self.machine(for: .store, done: 100) { $0.automaticAttemptsMax = 2 }
        breakAndBegin(&machine)
        let step = machine.attemptFailed(.reset, in: circumstances, using: &generator)
        if case .fail(_, .exhausted) = step { return }
        Issue.record("\(step)")
    }
}
