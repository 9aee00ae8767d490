import LayoverTestSupport
import Retry

/// An operation that ends as it was told, attempt by attempt. The last ending repeats.
final class ScriptedOperation: Sendable {
    private let endings: [Result<String, Trouble>]
    /// Attempts begun.
    let attempts = Watched(0)

    init(_ endings: Result<String, Trouble>...) { self.endings = endings }

    /// Fails so many times and then succeeds.
    static func failing(_ count: Int, with trouble: Trouble = .offline) -> ScriptedOperation {
        ScriptedOperation(endings: Array(repeating: .failure(trouble), count: count) + [.success("done")])
    }

    private init(endings: [Result<String, Trouble>]) { self.endings = endings }

    func callAsFunction() throws(Trouble) -> String {
        let number = next()
        return try endings[min(number, endings.count) - 1].get()
    }

    /// A task that repeats the operation.
    func repeated<Wake: AsyncSequence & Sendable>(
        by policy: RetryPolicy, on clock: SteppedClock, wakeOn wakes: Wake = NoWakeUps()
    ) -> Task<String, any Error> {
        Task { try await retry(policy, clock: clock, wakeOn: wakes) { _ in try self.callAsFunction() } }
    }

    private func next() -> Int {
        // One task calls at a time.
        attempts.update { $0 += 1 }
        return attempts.value
    }
}
