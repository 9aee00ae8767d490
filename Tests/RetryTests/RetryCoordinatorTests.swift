import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct RetryCoordinatorTests {
    private let coordinator = RetryCoordinator()
    let clock = SteppedClock()
    let server = ScriptedServer()

    private func start(_ path: String, on coordinator: RetryCoordinator) -> Task<String, any Error> {
        Task { [server] in try await coordinator.run(path) { _ in try await server.get(path) } }
    }

    /// Returns when so many more failures were told, and so the operations wait.
    private func failures(
        _ count: Int, _ reader: inout AsyncStream<FailedOperation>.Iterator
    ) async -> [FailedOperation] {
        var failures: [FailedOperation] = []
        while failures.count < count, let failure = await reader.next() { failures.append(failure) }
        return failures
    }

    @Test func successPassesThroughUnseen() async throws {
        server.recover()
        let coordinator = RetryCoordinator(countdown: .seconds(3), clock: clock)
        let page = try await coordinator.run { _ in try await server.get("a") }
        #expect(page == "page a")
        #expect(!coordinator.isVisible)
        #expect(clock.sleepCount == 0)
    }

    @Test func visibilityBeginsWithTheValueNowAndFollows() async throws {
        var early = coordinator.visibility.makeAsyncIterator()
        #expect(await early.next() == false)
        let task = start("a", on: coordinator)
        #expect(await early.next() == true)
        var late = coordinator.visibility.makeAsyncIterator()
        #expect(await late.next() == true)
        server.recover()
        coordinator.retry()
        #expect(try await task.value == "page a")
        #expect(await early.next() == false)
        #expect(await late.next() == false)
        #expect(!coordinator.isVisible)
    }

    @Test func otherErrorAfterTheWaitEndsTheIncident() async throws {
        let coordinator = RetryCoordinator { $0 as? Trouble == .offline }
        var reader = coordinator.failures.makeAsyncIterator()
        let task = start("a", on: coordinator)
        _ = await reader.next()
        server.fail(with: .status(404))
        coordinator.retry()
        await #expect(throws: Trouble.status(404)) { try await task.value }
        #expect(!coordinator.isVisible)
    }

    /// If the error were waited out, the wake-up would have another attempt follow at once.
    @Test func cancellationErrorOfTheOperationItselfIsThrownAtOnce() async {
        await #expect(throws: CancellationError.self) {
            try await coordinator.run { attempt in
                coordinator.wakeUp()
                if attempt.number == 1 { throw CancellationError() }
            }
        }
        #expect(!coordinator.isVisible)
    }

    @Test func cancelledTaskLeavesAndTheOthersKeepWaiting() async throws {
        let coordinator = RetryCoordinator(countdown: .seconds(3), clock: clock)
        var reader = coordinator.failures.makeAsyncIterator()
        let (first, second) = (start("a", on: coordinator), start("b", on: coordinator))
        _ = await failures(2, &reader)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(coordinator.isVisible)
        #expect(coordinator.incident.waitingCount == 1)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(!coordinator.isVisible)
        try await clock.sleepers(0)
    }

    @Test func oneCountdownServesAllOperationsInTrouble() async throws {
        let coordinator = RetryCoordinator(countdown: .seconds(3), automaticRetryCountMax: 2, clock: clock)
        var reader = coordinator.failures.makeAsyncIterator()
        let tasks = (1...50).map { start("\($0)", on: coordinator) }
        for round in 1...2 {
            _ = await failures(50, &reader)
            #expect(try await clock.sleepers() == .seconds(3))
            #expect(clock.sleepCount == round)
            clock.advance(by: .seconds(3))
        }
        _ = await failures(50, &reader)
        #expect(coordinator.incident.isManualOnly)
        #expect(clock.sleepCount == 2)
        server.recover()
        coordinator.retry()
        for task in tasks { #expect(try await task.value.hasPrefix("page")) }
        #expect(server.requests.count == 200)
    }

    @Test func everyElementOfASequenceIsAWakeUp() async throws {
        let reachability = CountedWakes()
        let listener = Task { await coordinator.wakeUp(on: reachability) }
        var reader = coordinator.failures.makeAsyncIterator()
        let task = start("a", on: coordinator)
        for _ in 1...3 {
            _ = await reader.next()
            reachability.send()
        }
        _ = await reader.next()
        server.recover()
        reachability.send()
        #expect(try await task.value == "page a")
        reachability.finish()
        await listener.value
        #expect(server.requests.count == 5)
    }

    @Test func cancelledTaskMakesNoAttempt() async {
        let task = Task { [server] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await RetryCoordinator().run { _ in try await server.get("a") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test @MainActor func theOperationRunsWhereItsCallerRuns() async throws {
        var attempts = 0
        try await coordinator.run { _ in
            MainActor.assertIsolated()
            attempts += 1
            coordinator.wakeUp()
            if attempts < 3 { throw Trouble.offline }
        }
        #expect(attempts == 3)
    }

    /// Retry, cancel and the cancellation of the task at the same moment: each operation ends once.
    @Test func racingCallsLeaveNoOperationWaiting() async throws {
        for _ in 1...1000 {
            let coordinator = RetryCoordinator(countdown: .seconds(3), clock: clock)
            let tasks = (1...4).map { start("\($0)", on: coordinator) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { coordinator.retry() }
                group.addTask { coordinator.cancel() }
                group.addTask { coordinator.wakeUp() }
                group.addTask { for task in tasks { task.cancel() } }
            }
            for task in tasks {
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(!coordinator.isVisible)
            #expect(coordinator.incident.waitingCount == 0)
        }
        try await clock.sleepers(0)
    }

    @Test func streamsEndWithTheirCoordinator() async {
        var coordinator: RetryCoordinator? = RetryCoordinator()
        var failures = coordinator?.failures.makeAsyncIterator()
        var visibility = coordinator?.visibility.makeAsyncIterator()
        coordinator = nil
        #expect(await visibility?.next() == false)
        #expect(await visibility?.next() == nil)
        #expect(await failures?.next() == nil)
    }
}
