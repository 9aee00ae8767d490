import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct RetryTests {
    let clock = SteppedClock()

    private func policy(_ attemptCountMax: Int?, _ pattern: DelaySchedule.Pattern = .constant(.seconds(2)))
        -> RetryPolicy
    {
        RetryPolicy(attemptCountMax: attemptCountMax, schedule: DelaySchedule(pattern))
    }

    @Test func successAtOnceNeverWaits() async throws {
        let operation = ScriptedOperation(.success("done"))
        #expect(try await retry(policy(3), clock: clock) { _ in try operation() } == "done")
        #expect(operation.attempts.value == 1)
        #expect(clock.sleepCount == 0)
    }

    @Test func failedAttemptsAreRepeatedAfterTheSchedulesDelays() async throws {
        let operation = ScriptedOperation.failing(3)
        let task = Task { [clock] in
            try await retry(policy(nil, .list([.seconds(1), .seconds(5), .seconds(9)])), clock: clock) {
                attempt in
                #expect(attempt.number == operation.attempts.value + 1)
                #expect(attempt.isRetry == (attempt.number > 1))
                #expect(attempt.lastError as? Trouble == (attempt.number == 1 ? nil : .offline))
                return try operation()
            }
        }
        for delay in [1, 5, 9] {
            #expect(try await clock.sleepers() == .seconds(delay))
            clock.advance(by: .seconds(delay) - .nanoseconds(1))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .nanoseconds(1))
        }
        #expect(try await task.value == "done")
        #expect(operation.attempts.value == 4)
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: [(1, 1), (0, 1), (-5, 1), (2, 2), (7, 7)])
    func theLastErrorIsThrownWhenTheAttemptsAreUsedUp(attemptCountMax: Int, expected: Int) async {
        let operation = ScriptedOperation(.failure(.offline), .failure(.refused))
        await #expect(throws: expected == 1 ? Trouble.offline : .refused) {
            try await retry(policy(attemptCountMax, .immediate), clock: clock) { _ in try operation() }
        }
        #expect(operation.attempts.value == expected)
    }

    @Test func exhaustionCanEndInAStandInValue() async throws {
        let operation = ScriptedOperation(.failure(.offline), .failure(.refused))
        let output = try await retry(
            policy(2, .immediate), clock: clock, onExhausted: { "stand-in for \($0)" }
        ) { _ in try operation() }
        #expect(output == "stand-in for refused")
    }

    @Test func errorThatIsNotWorthRetryingIsThrownAtOnceWithoutAStandIn() async {
        let operation = ScriptedOperation(.failure(.offline), .failure(.status(404)), .success("done"))
        let chosen = policy(9, .immediate).retrying(Trouble.self) { $0 == .offline }
        await #expect(throws: Trouble.status(404)) {
            try await retry(chosen, clock: clock, onExhausted: { _ in "stand-in" }) { _ in try operation() }
        }
        #expect(operation.attempts.value == 2)
    }

    @Test func manyAttemptsWithoutDelayNeitherOverflowNorBlock() async throws {
        let operation = ScriptedOperation.failing(20_000)
        #expect(try await retry(policy(nil, .immediate), clock: clock) { _ in try operation() } == "done")
        #expect(operation.attempts.value == 20_001)
    }

    @Test func delaysWithoutEndDoNotOverflowTheClock() async throws {
        let endless = policy(2, .constant(.seconds(Int64.max)))
        let task = Task { try await retry(endless) { _ in throw Trouble.offline } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func jitterComesFromTheGeneratorPassedIn() async throws {
        let jittered = RetryPolicy(
            attemptCountMax: 2, schedule: .constant(.seconds(10), jitter: .full))
        let expected = try #require(
            jittered.schedule.delays(using: SeededGenerator(seed: 5)).first { _ in true })
        let task = Task { [clock] in
            try await retry(jittered, clock: clock, using: SeededGenerator(seed: 5)) { _ in
                throw Trouble.offline
            }
        }
        #expect(try await clock.sleepers() == expected)
        clock.advance(by: expected)
        await #expect(throws: Trouble.offline) { try await task.value }
    }

    /// An operation may use what belongs to its caller without handing it over.
    @Test @MainActor func theOperationRunsWhereItsCallerRuns() async throws {
        final class Count { var value = 0 }
        let count = Count()
        let output = try await retry(policy(5, .immediate), clock: clock, wakeOn: WakeSignal()) { _ in
            MainActor.assertIsolated()
            count.value += 1
            if count.value < 3 { throw Trouble.offline }
            return count
        }
        #expect(output.value == 3)
    }
}
