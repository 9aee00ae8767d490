import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct RetryWakeUpTests {
    let clock = SteppedClock()
    let hourly = RetryPolicy(attemptCountMax: 3, schedule: .constant(.seconds(3600)))

    @Test func theWakeUpEndsTheWaitBeforeTheTimer() async throws {
        let (operation, wakes) = (ScriptedOperation.failing(2), CountedWakes())
        let task = operation.repeated(by: hourly, on: clock, wakeOn: wakes)
        try await clock.sleepers()
        wakes.send()
        try await operation.attempts.wait("second attempt") { $0 == 2 }
        try await clock.sleepers()
        wakes.send()
        #expect(try await task.value == "done")
        #expect(clock.now.sinceStart == .zero)
        #expect(clock.sleeperCount == 0)
        #expect(wakes.ended.value == 1, "the listener is gone when the call returns")
    }

    @Test func wakeUpsDuringAnAttemptEndTheNextWaitOnce() async throws {
        let (operation, wakes) = (ScriptedOperation.failing(2), CountedWakes())
        let task = Task { [clock, hourly] in
            try await retry(hourly, clock: clock, wakeOn: wakes) { attempt in
                if attempt.number == 1 {
                    try await wakes.sendAndWait()
                    try await wakes.sendAndWait()
                }
                return try operation()
            }
        }
        // The second attempt came at once. Its own wait is a full one again: two wake-ups were one.
        #expect(try await clock.sleepers() == .seconds(3600))
        #expect(operation.attempts.value == 2)
        #expect(clock.sleepCount == 1)
        clock.advance(by: .seconds(3600))
        #expect(try await task.value == "done")
    }

    @Test func signalsBetweenTheCallAndTheFirstWaitAreNotMissed() async throws {
        for _ in 1...500 {
            let (clock, signal, hourly) = (SteppedClock(), WakeSignal(), hourly)
            let operation = ScriptedOperation.failing(1)
            // The order does not matter: the iterator exists before the attempt, also if its listener does not run yet.
            let output = try await retry(hourly, clock: clock, wakeOn: signal) { attempt in
                if attempt.number == 1 { signal.send() }
                return try operation()
            }
            #expect(output == "done")
        }
    }

    @Test func theEndOfTheWakeUpsLeavesTheTimer() async throws {
        let (operation, wakes) = (ScriptedOperation.failing(1), CountedWakes())
        wakes.finish()
        let task = operation.repeated(by: hourly, on: clock, wakeOn: wakes)
        try await clock.sleepers()
        try await wakes.ended.wait("end") { $0 == 1 }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(3600))
        #expect(try await task.value == "done")
    }

    @Test func wakeUpsThatThrowLeaveTheTimer() async throws {
        let broken = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Trouble.refused) }
        let task = ScriptedOperation.failing(1).repeated(by: hourly, on: clock, wakeOn: broken)
        try await clock.sleepers()
        clock.advance(by: .seconds(3600))
        #expect(try await task.value == "done")
    }

    @Test func oneSignalWakesAllWaitingOperations() async throws {
        let (signal, server) = (WakeSignal(), ScriptedServer())
        let tasks = (1...20).map { number in
            Task { [clock, hourly] in
                try await retry(hourly, clock: clock, wakeOn: signal) { _ in try await server.get("\(number)")
                }
            }
        }
        try await clock.sleepers(20)
        server.recover()
        signal.send()
        for task in tasks { #expect(try await task.value.hasPrefix("page")) }
        #expect(server.requests.count == 40)
    }

    @Test func aLateWakeUpCostsNoAttempt() async throws {
        let wakes = CountedWakes()
        let task = ScriptedOperation(.failure(.offline)).repeated(by: hourly, on: clock, wakeOn: wakes)
        for _ in 1...2 {
            try await clock.sleepers()
            clock.advance(by: .seconds(3600))
        }
        await #expect(throws: Trouble.offline) { try await task.value }
        wakes.send()
        #expect(wakes.ended.value == 1)
    }
}
