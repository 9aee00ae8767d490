import LayoverTestSupport
import Retry
import Testing

struct FallibleOperationTests {
    private let parse = FallibleOperation { (text: String) throws(Trouble) in
        guard let number = Int(text) else { throw .refused }
        return number
    }

    @Test func aValueOrAResultGoesThroughTheFunction() throws(Trouble) {
        #expect(try parse("42") == 42)
        #expect(throws: Trouble.refused) { try parse("forty-two") }
        #expect(parse.result(of: .success("42")) == .success(42))
        #expect(parse.result(of: .success("?")) == .failure(.refused))
    }

    @Test func aFailureThatComesInPassesThroughAndNothingRuns() {
        let operation = ScriptedOperation(.success("done"))
        let wrapped = FallibleOperation { (_: String) throws(Trouble) in try operation() }
        #expect(wrapped.result(of: .failure(.offline)) == .failure(.offline))
        #expect(operation.attempts.value == 0)
    }

    @Test func mapChangesTheOutputAndMapErrorTheError() {
        struct Renamed: Error, Equatable { var trouble: Trouble }
        let described = parse.map { "<\($0)>" }.mapError { Renamed(trouble: $0) }
        #expect(described.result(of: .success("7")) == .success("<7>"))
        #expect(described.result(of: .success("?")) == .failure(Renamed(trouble: .refused)))
    }

    @Test func flatMapStopsAtTheFirstFailure() {
        let reached = Watched(0)
        let halved = parse.flatMap { number throws(Trouble) in
            reached.update { $0 += 1 }
            guard number.isMultiple(of: 2) else { throw Trouble.status(number) }
            return number / 2
        }
        #expect(halved.result(of: .success("84")) == .success(42))
        #expect(halved.result(of: .success("7")) == .failure(.status(7)))
        #expect(halved.result(of: .success("?")) == .failure(.refused))
        #expect(reached.value == 2)
    }

    @Test func recoveringCannotFail() {
        let safe: FallibleOperation<String, Int, Never> = parse.recovering { _ in -1 }
        #expect(safe("5") == 5)
        #expect(safe("?") == -1)
    }

    @Test(arguments: [(3, 2, true, 3), (3, 3, false, 3), (1, 1, false, 1), (0, 1, false, 1), (9, 0, true, 1)])
    func retryingAtOnceMakesAsManyAttemptsAsItMay(
        attemptCountMax: Int, failureCount: Int, succeeds: Bool, attemptCount: Int
    ) {
        let operation = ScriptedOperation.failing(failureCount)
        let retried = FallibleOperation { (_: Int) throws(Trouble) in try operation() }
            .retryingAtOnce(attemptCountMax: attemptCountMax)
        #expect(retried.result(of: .success(0)) == (succeeds ? .success("done") : .failure(.offline)))
        #expect(operation.attempts.value == attemptCount)
    }

    @Test func retryingAtOnceAsksThePredicate() {
        let operation = ScriptedOperation(.failure(.offline), .failure(.refused), .success("done"))
        let retried = FallibleOperation { (_: Int) throws(Trouble) in try operation() }
            .retryingAtOnce(attemptCountMax: 9) { $0 == .offline }
        #expect(throws: Trouble.refused) { try retried(0) }
        #expect(operation.attempts.value == 2)
    }

    @Test func aSynchronousOperationCanWaitBetweenAttempts() async throws {
        let (clock, operation) = (SteppedClock(), ScriptedOperation.failing(1))
        let retried = FallibleOperation { (name: String) throws(Trouble) in name + (try operation()) }
            .retrying(RetryPolicy(schedule: .constant(.seconds(3))), clock: clock)
        let task = Task { await retried.result(of: .success("well ")) }
        #expect(try await clock.sleepers() == .seconds(3))
        clock.advance(by: .seconds(3))
        #expect(await task.value == .success("well done"))
    }
}
