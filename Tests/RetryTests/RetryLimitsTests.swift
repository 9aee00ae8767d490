import LayoverTestSupport
import Retry
import Testing

/// Deadline and budget, as the running operation meets them.
@Suite(.timeLimit(.minutes(3)))
struct RetryLimitsTests {
    let clock = SteppedClock()

    private func policy(every seconds: Int, deadline: Int, budget: SharedRetryBudget? = nil) -> RetryPolicy {
        RetryPolicy(
            attemptCountMax: nil, schedule: .constant(.seconds(seconds)),
            deadline: .seconds(deadline), budget: budget)
    }

    @Test func aWaitThatWouldReachTheDeadlineIsNotBegun() async throws {
        let operation = ScriptedOperation(.failure(.offline), .failure(.offline), .failure(.refused))
        let task = operation.repeated(by: policy(every: 4, deadline: 12), on: clock)
        for _ in 1...2 {
            try await clock.sleepers()
            clock.advance(by: .seconds(4))
        }
        await #expect(throws: Trouble.refused) { try await task.value }
        #expect(operation.attempts.value == 3)
    }

    @Test func aWakeUpBeforeTheDeadlineStillCounts() async throws {
        let wakes = CountedWakes()
        let task = ScriptedOperation.failing(1).repeated(by: policy(every: 60, deadline: 10), on: clock, wakeOn: wakes)
        #expect(try await clock.sleepers() == .seconds(10))
        wakes.send()
        #expect(try await task.value == "done")
    }

    @Test func theDeadlineEndsTheWaitForAWakeUp() async throws {
        let (operation, budget) = (ScriptedOperation.failing(1), SharedRetryBudget())
        let task = operation.repeated(by: policy(every: 60, deadline: 10, budget: budget), on: clock, wakeOn: WakeSignal())
        try await clock.sleepers()
        #expect(budget.current.minimumInUse == 1)
        clock.advance(by: .seconds(10))
        await #expect(throws: Trouble.offline) { try await task.value }
        #expect(operation.attempts.value == 1)
        #expect(budget.current.minimumInUse == 0)
    }

    @Test func anAttemptThatOutlivesTheDeadlineIsTheLast() async {
        let operation = ScriptedOperation.failing(1)
        await #expect(throws: Trouble.offline) {
            try await retry(policy(every: 0, deadline: 10), clock: clock) { _ in
                clock.advance(by: .seconds(11))
                return try operation()
            }
        }
        #expect(operation.attempts.value == 1)
    }

    @Test func emptyBudgetFailsWithoutWaiting() async throws {
        let budget = SharedRetryBudget(RetryBudget(ratio: 0, minimum: 1))
        let patient = policy(every: 5, deadline: 1000, budget: budget)
        let first = Task { [clock] in
            try await retry(patient, clock: clock) { attempt in
                if attempt.number == 1 { throw Trouble.offline }
                return "done"
            }
        }
        try await clock.sleepers()
        await #expect(throws: Trouble.refused) {
            try await retry(patient, clock: clock) { _ in throw Trouble.refused }
        }
        clock.advance(by: .seconds(5))
        #expect(try await first.value == "done")
        #expect(budget.current.minimumInUse == 0)
    }

    @Test func aCancelledWaitGivesItsGrantBack() async throws {
        let budget = SharedRetryBudget(RetryBudget(ratio: 1, minimum: 0))
        let task = ScriptedOperation(.failure(.offline)).repeated(by: policy(every: 5, deadline: 1000, budget: budget), on: clock)
        try await clock.sleepers()
        #expect(budget.current.tokenCount == 0)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        #expect(budget.current.tokenCount == 1)
    }

    @Test func retriesOfManyStayWithinTheBudget() async {
        let budget = SharedRetryBudget(RetryBudget(ratio: 0.2, minimum: 0))
        let attempts = Watched(0)
        let eager = RetryPolicy(attemptCountMax: nil, schedule: .immediate, budget: budget)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...500 {
                group.addTask {
                    _ = try? await retry(eager) { _ in
                        attempts.update { $0 += 1 }
                        throw Trouble.offline
                    }
                }
            }
        }
        #expect(attempts.value == 600)
    }
}
