import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct AsyncFallibleOperationTests {
    let clock = SteppedClock()
    let everyThreeSeconds = RetryPolicy(attemptCountMax: 3, schedule: .constant(.seconds(3)))

    private func wrapped(
        _ operation: ScriptedOperation
    ) -> AsyncFallibleOperation<String, String, Trouble> {
        AsyncFallibleOperation { (name: String) async throws(Trouble) in name + (try operation()) }
    }

    @Test func resultsGoInAndOut() async {
        let operation = wrapped(ScriptedOperation(.success("!"), .failure(.refused)))
        #expect(await operation.result(of: .failure(.offline)) == .failure(.offline))
        #expect(await operation.result(of: .success("a")) == .success("a!"))
        #expect(await operation.result(of: .success("a")) == .failure(.refused))
    }

    @Test func onlyTheWrappedOperationIsRepeated() async throws {
        let (first, second) = (ScriptedOperation.failing(1), ScriptedOperation(.failure(.status(500))))
        let chain = wrapped(first).retrying(everyThreeSeconds, clock: clock)
            .map { $0.count }
            .flatMap { count async throws(Trouble) in "\(count)" + (try second()) }
        let task = Task { await chain.result(of: .success("all ")) }
        try await clock.sleepers()
        clock.advance(by: .seconds(3))
        #expect(await task.value == .failure(.status(500)))
        #expect(first.attempts.value == 2)
        #expect(second.attempts.value == 1)
    }

    @Test func theWholeChainIsRepeatedWhenItIsWrapped() async throws {
        let (first, second) = (ScriptedOperation(.success("a")), ScriptedOperation.failing(2))
        let chain = wrapped(first).flatMap(wrapped(second)).retrying(everyThreeSeconds, clock: clock)
        let task = Task { try await chain("") }
        for _ in 1...2 {
            try await clock.sleepers()
            clock.advance(by: .seconds(3))
        }
        #expect(try await task.value == "adone")
        #expect(first.attempts.value == 3)
    }

    @Test func aCancelledRetryFailsWithItsLastErrorAtOnce() async throws {
        let operation = wrapped(ScriptedOperation(.failure(.refused))).retrying(
            everyThreeSeconds, clock: clock)
        let task = Task { await operation.result(of: .success("")) }
        try await clock.sleepers()
        task.cancel()
        #expect(await task.value == .failure(.refused))
        #expect(clock.sleeperCount == 0)
    }

    @Test func everyCallHasItsOwnListener() async throws {
        let (signal, server) = (WakeSignal(), ScriptedServer())
        let load = AsyncFallibleOperation { (path: String) async throws in try await server.get(path) }
            .retrying(everyThreeSeconds, clock: clock) { signal }
        let tasks = ["a", "b"].map { path in Task { try await load(path) } }
        try await clock.sleepers(2)
        server.recover()
        signal.send()
        #expect(try await tasks[0].value == "page a")
        #expect(try await tasks[1].value == "page b")
    }

    @Test func aDelayComesBeforeTheFunction() async throws {
        let script = ScriptedOperation(.success("done"))
        let late = wrapped(script).delayed(by: .seconds(5), clock: clock, failingWith: .refused)
        let task = Task { try await late("well ") }
        #expect(try await clock.sleepers() == .seconds(5))
        #expect(script.attempts.value == 0)
        clock.advance(by: .seconds(5))
        #expect(try await task.value == "well done")
    }

    @Test(arguments: [Duration.zero, .seconds(-3)])
    func noDelayDoesNotWait(delay: Duration) async throws {
        let operation = wrapped(ScriptedOperation(.success("!")))
            .delayed(by: delay, clock: clock, failingWith: .refused)
        #expect(try await operation("a") == "a!")
        #expect(clock.sleepCount == 0)
    }

    @Test func cancelledDelayFailsWithTheGivenErrorAndTheFunctionDoesNotRun() async throws {
        let script = ScriptedOperation(.success("done"))
        let typed = wrapped(script).delayed(by: .seconds(5), clock: clock, failingWith: .refused)
        let untyped = AsyncFallibleOperation<String, String, any Error> { _ in try script() }
            .delayed(by: .seconds(5), clock: clock)
        let first = Task { await typed.result(of: .success("")) }
        let second = Task { try await untyped("") }
        try await clock.sleepers(2)
        first.cancel()
        second.cancel()
        #expect(await first.value == .failure(.refused))
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(script.attempts.value == 0)
    }

    @Test func theFunctionRunsOnTheExecutorOfItsChoice() async throws {
        let executor = RecordingExecutor()
        let place = AsyncFallibleOperation { (_: Int) async throws(Trouble) in executor.isCurrent }
        #expect(try await place(0) == false)
        #expect(executor.jobs.value == 0)
        #expect(try await place.running(on: executor)(0))
        #expect(executor.jobs.value > 0)
        let chained = place.running(on: executor).flatMap { inside async throws(Trouble) in
            (inside, executor.isCurrent)
        }
        let places = try await chained(0)
        #expect(places.0)
        #expect(!places.1)
    }

    @Test func everyAttemptRunsOnTheExecutor() async throws {
        let (executor, places) = (RecordingExecutor(), Watched<[Bool]>([]))
        let operation = AsyncFallibleOperation { (_: Int) async throws(Trouble) in
            places.update { $0.append(executor.isCurrent) }
            if places.value.count < 3 { throw .offline }
        }
        let immediate = RetryPolicy(attemptCountMax: 3, schedule: .immediate)
        try await operation.running(on: executor).retrying(immediate, clock: clock)(0)
        #expect(places.value == [true, true, true])
    }

    @Test func recoveringAndMapErrorChangeHowItFails() async {
        struct Renamed: Error, Equatable {}
        let operation = wrapped(ScriptedOperation(.failure(.refused)))
        #expect(await operation.recovering { "\($0)" }("") == "refused")
        #expect(await operation.mapError { _ in Renamed() }.result(of: .success("")) == .failure(Renamed()))
    }
}
