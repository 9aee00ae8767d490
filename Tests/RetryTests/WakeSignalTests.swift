import LayoverTestSupport
import Retry
import Testing

@Suite(.timeLimit(.minutes(3)))
struct WakeSignalTests {
    @Test func signalsFromBeforeTheListenerAreNotKept() async {
        let signal = WakeSignal()
        signal.send()
        var iterator = signal.makeAsyncIterator()
        let task = Task {
            var late = signal.makeAsyncIterator()
            return await late.next() == nil
        }
        task.cancel()
        #expect(await task.value)
        signal.send()
        signal.send()
        await iterator.next()
    }

    /// A reader that is cancelled says goodbye while elements are handed to it.
    @Test func readersMayLeaveWhileOthersSend() async throws {
        for _ in 1...1000 {
            let signal = WakeSignal()
            let readers = (1...4).map { _ in Task { for await _ in signal {} } }
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...2 { group.addTask { for _ in 1...10 { signal.send() } } }
                for reader in readers { group.addTask { reader.cancel() } }
            }
            for reader in readers { await reader.value }
        }
    }

    @Test func everyReaderSeesTheFailuresOfOneOperationInOrder() async throws {
        let coordinator = RetryCoordinator()
        let streams = (1...3).map { _ in coordinator.failures }
        try await coordinator.run { attempt in
            coordinator.retry()
            if attempt.number <= 200 { throw Trouble.offline }
        }
        #expect(!coordinator.isVisible)
        for stream in streams {
            var failures: [FailedOperation] = []
            for await failure in stream {
                failures.append(failure)
                if failure.attempt == 200 { break }
            }
            #expect(failures.map(\.attempt) == Array(1...200))
            #expect(Set(failures.map(\.id)).count == 1)
        }
    }

    /// Readers leave while operations fail, run again and are cancelled.
    @Test func screensMayGoWhileACoordinatorIsBusy() async throws {
        for _ in 1...500 {
            let coordinator = RetryCoordinator()
            let screens = (1...2).map { _ in
                Task {
                    for await _ in coordinator.visibility {}
                    for await _ in coordinator.failures {}
                }
            }
            let tasks = (1...3).map { _ in Task { try await coordinator.run { _ in throw Trouble.offline } } }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 1...5 { coordinator.retry() } }
                for screen in screens { group.addTask { screen.cancel() } }
                for task in tasks { group.addTask { task.cancel() } }
            }
            for screen in screens { await screen.value }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        }
    }
}
