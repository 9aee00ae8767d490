import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct RetryCancellationTests {
    let clock = SteppedClock()
    let endless = RetryPolicy(attemptCountMax: nil, schedule: .constant(.seconds(60)))

    @Test func cancellationEndsTheWaitForAWakeUpAndItsListener() async throws {
        let wakes = CountedWakes()
        let task = ScriptedOperation(.failure(.offline)).repeated(by: endless, on: clock, wakeOn: wakes)
        try await clock.sleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        #expect(wakes.ended.value == wakes.asked.value, "the listener is gone when the call returns")
    }

    @Test func cancelledTaskMakesNoAttempt() async {
        let operation = ScriptedOperation(.success("done"))
        let task = Task { [clock, endless] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await retry(endless, clock: clock) { _ in try operation() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.attempts.value == 0)
    }

    @Test func attemptThatFailsInACancelledTaskIsNotRepeated() async {
        let operation = ScriptedOperation.failing(1)
        let task = Task { [clock, endless] in
            try await retry(endless, clock: clock, onExhausted: { _ in "stand-in" }) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return try operation()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.attempts.value == 1)
        #expect(clock.sleepCount == 0)
    }

    @Test func attemptThatSucceedsInACancelledTaskIsTheResult() async throws {
        let task = Task { [clock, endless] in
            try await retry(endless, clock: clock) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return "done"
            }
        }
        #expect(try await task.value == "done")
    }

    @Test func cancellationErrorOfTheAttemptItselfIsNeverRetried() async {
        let attempts = Watched(0)
        let task = Task { [clock, endless] () async throws -> String in
            try await retry(endless, clock: clock, onExhausted: { _ in "stand-in" }) { _ in
                attempts.update { $0 += 1 }
                throw CancellationError()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(attempts.value == 1)
    }

    @Test func endlessRetryWithoutDelayCanBeCancelled() async {
        let started = Watched(false)
        let task = Task { [clock] in
            let immediate = RetryPolicy(attemptCountMax: nil, schedule: .immediate)
            try await retry(immediate, clock: clock) { _ in
                started.update { $0 = true }
                throw Trouble.offline
            }
        }
        await #expect(throws: Never.self) { try await started.wait("first attempt") { $0 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// The timer, the wake-up and the cancellation come together, in every order the threads can make.
    @Test func racingEndsOfAWaitAlwaysEndIt() async throws {
        for _ in 1...2000 {
            let (clock, wakes) = (SteppedClock(), WakeSignal())
            let task = ScriptedOperation(.failure(.offline)).repeated(by: endless, on: clock, wakeOn: wakes)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { wakes.send() }
                group.addTask { clock.advance(by: .seconds(60)) }
                group.addTask { task.cancel() }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(clock.sleeperCount == 0)
        }
    }
}
