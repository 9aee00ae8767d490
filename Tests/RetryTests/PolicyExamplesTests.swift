import LayoverTestSupport
import Retry
import Testing

// The code between the marks is the code of the article `Examples`; ArticleTests compares them.

/// Operations that look after themselves.
@Suite(.timeLimit(.minutes(3)))
struct PolicyExamplesTests {
    let clock = SteppedClock()
    let server = ScriptedServer()

    @Test func s2aRetryWithoutEndOrAtMostNTimesOrAfterAFixedDelay() async throws {
        // snippet: S2a
        let withoutEnd = RetryPolicy(attemptCountMax: nil, schedule: .immediate)
        let fourAttempts = RetryPolicy(attemptCountMax: 4, schedule: .immediate)
        let everyTwoSeconds = RetryPolicy(
            attemptCountMax: nil, schedule: .constant(.seconds(2)))
        // end
        let longTrouble = ScriptedOperation.failing(1000)
        #expect(try await retry(withoutEnd, clock: clock) { _ in try longTrouble() } == "done")

        let tooLongTrouble = ScriptedOperation.failing(4)
        await #expect(throws: Trouble.offline) {
            try await retry(fourAttempts, clock: clock) { _ in try tooLongTrouble() }
        }

        // snippet: S2a
        let page = Task {
            try await retry(everyTwoSeconds, clock: clock) { _ in try await server.get("/page") }
        }
        // end
        for _ in 1...5 {
            #expect(try await clock.sleepers() == .seconds(2))
            clock.advance(by: .seconds(2))
        }
        try await clock.sleepers()
        server.recover()
        clock.advance(by: .seconds(2))
        #expect(try await page.value == "page /page")
    }

    @Test func theReadmeRetriesWithGrowingDelays() async throws {
        server.recover()
        // snippet: README
        let policy = RetryPolicy(attemptCountMax: 5, schedule: .exponential(initial: .seconds(1)))
        let page = try await retry(policy) { _ in try await server.get("/page") }
        // end
        #expect(page == "page /page")
        #expect(Array(policy.schedule.unjitteredDelays.prefix(6)) == [1, 2, 4, 8, 16, 30].map { .seconds($0) })
    }

    @Test func s2bAfterNFailuresItEndsInSuccessWithAStandIn() async throws {
        let policy = RetryPolicy(attemptCountMax: 3, schedule: .immediate)
        // snippet: S2b
        let page = try await retry(policy, onExhausted: { _ in "nothing new" }) { _ in
            try await server.get("/news")
        }
        // end
        #expect(page == "nothing new")
        #expect(server.requests.count == 3)
    }

    @Test func s2dOnlyChosenErrorsAreRetried() async throws {
        // snippet: S2d
        let policy = RetryPolicy(attemptCountMax: 3, schedule: .immediate)
            .retrying(Trouble.self) { $0 == .offline }
        let operation = { (_: RetryAttempt) in try await server.get("/page") }
        // end
        await #expect(throws: Trouble.offline) { try await retry(policy, operation: operation) }
        #expect(server.requests.count == 3)
        server.fail(with: .status(404))
        await #expect(throws: Trouble.status(404)) { try await retry(policy, operation: operation) }
        #expect(server.requests.count == 4)
    }

    @Test func s4bDelaysAreImmediateConstantExponentialOrOfOnesOwn() {
        // snippet: S4b
        let immediate = DelaySchedule.immediate
        let constant = DelaySchedule.constant(.seconds(5))
        let exponential = DelaySchedule.exponential(initial: .seconds(1), multiplier: 2, max: .seconds(10))
        let list = DelaySchedule.list([.seconds(1), .seconds(5), .seconds(30)])
        let custom = DelaySchedule.custom { attempt in .seconds(attempt * attempt) }
        let waits = exponential.unjitteredDelays.prefix(5)  // 1 s, 2 s, 4 s, 8 s, 10 s
        // end
        #expect(Array(waits) == [1, 2, 4, 8, 10].map { .seconds($0) })
        #expect(Array(immediate.unjitteredDelays.prefix(2)) == [.zero, .zero])
        #expect(Array(constant.unjitteredDelays.prefix(2)) == [.seconds(5), .seconds(5)])
        #expect(Array(list.unjitteredDelays.prefix(4)) == [1, 5, 30, 30].map { .seconds($0) })
        #expect(Array(custom.unjitteredDelays.prefix(3)) == [1, 4, 9].map { .seconds($0) })
    }

    @Test func s4cTheWaitEndsAtTheTimerOrWhenTheNetworkIsReachable() async throws {
        // snippet: S4c
        let reachability = WakeSignal()
        let policy = RetryPolicy(
            attemptCountMax: 3, schedule: .constant(.seconds(60)),
            isWorthRetrying: { $0 as? Trouble == .offline })
        let page = Task {
            try await retry(policy, clock: clock, wakeOn: reachability) { _ in
                try await server.get("/page")
            }
        }
        // end
        #expect(try await clock.sleepers() == .seconds(60))
        reachability.send()
        try await server.requests(2)
        #expect(clock.now.sinceStart == .zero)
        #expect(try await clock.sleepers() == .seconds(60))
        server.recover()
        clock.advance(by: .seconds(60))
        #expect(try await page.value == "page /page")
    }

    @Test func s5aAnyFallibleFunctionCanRetry() async throws {
        let (script, executor, everySecond) = (
            ScriptedOperation(.failure(.offline), .success("42")), RecordingExecutor(),
            DelaySchedule.constant(.seconds(1))
        )
        // snippet: S5a
        let read = FallibleOperation { (_: String) throws(Trouble) in try script() }
        let parse = FallibleOperation { (text: String) throws(Trouble) in
            guard let number = Int(text) else { throw .refused }
            return number
        }
        let response = read.asynchronous()
            .running(on: executor)
            .retrying(RetryPolicy(attemptCountMax: 3, schedule: everySecond), clock: clock)
            .flatMap(parse.asynchronous())
            .map { $0 * 2 }
        let result = Task { await response.result(of: .success("/answer")) }
        // end
        #expect(try await clock.sleepers() == .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(await result.value == .success(84))
        #expect(script.attempts.value == 2)
        #expect(executor.jobs.value >= 2)
        #expect(await response.result(of: .failure(.refused)) == .failure(.refused))
    }
}
