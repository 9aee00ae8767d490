import LayoverTestSupport
import Retry
import Testing

// The code between the marks is the code of the article `Examples`; ArticleTests compares them.
// A row may have several pieces, with steps of the test between them.

/// Operations that wait out trouble together, and the person who steers them.
@Suite(.timeLimit(.minutes(3)))
struct CoordinatorExamplesTests {
    let clock = SteppedClock()
    let server = ScriptedServer()

    @Test func s1aRetryResendsEverythingAndCancelFailsEverything() async throws {
        // snippet: S1a
        let coordinator = RetryCoordinator()
        let feed = Task { try await coordinator.run("feed") { _ in try await server.get("/feed") } }
        let inbox = Task { try await coordinator.run("inbox") { _ in try await server.get("/inbox") } }
        // end
        try await waiting(2, on: coordinator)
        // snippet: S1a
        coordinator.retry()  // the button Retry: both are sent again
        // end
        try await server.requests(4)
        #expect(server.requests.sorted() == ["/feed", "/feed", "/inbox", "/inbox"])
        try await waiting(2, on: coordinator)
        // snippet: S1a
        coordinator.cancel()  // the button Cancel: both fail with a CancellationError
        // end
        await #expect(throws: CancellationError.self) { try await feed.value }
        await #expect(throws: CancellationError.self) { try await inbox.value }
    }

    @Test func s1bAStreamSaysWhichOperationFailed() async throws {
        let coordinator = RetryCoordinator()
        let log = Watched<[String]>([])
        let failures = coordinator.failures
        let reader = Task {
            // snippet: S1b
            for await failure in failures {
                log.update { $0.append("\(failure.name), attempt \(failure.attempt): \(failure.error)") }
            }
            // end
        }
        let task = Task { try await coordinator.run("feed") { [server] _ in try await server.get("/feed") } }
        try await log.wait("first failure") { $0 == ["feed, attempt 1: offline"] }
        server.fail(with: .status(503))
        coordinator.retry()
        try await log.wait("second failure") { $0.last == "feed, attempt 2: status(503)" }
        server.recover()
        coordinator.retry()
        #expect(try await task.value == "page /feed")
        reader.cancel()
    }

    @Test func s1cAStreamSaysWhetherTheMessageIsVisible() async throws {
        let coordinator = RetryCoordinator()
        let banner = Watched<Bool?>(nil)
        let visibility = coordinator.visibility
        let reader = Task {
            // snippet: S1c
            for await isVisible in visibility {
                banner.update { $0 = isVisible }  // from the first failure until nobody is in trouble
            }
            // end
        }
        try await banner.wait("hidden at first") { $0 == false }
        let task = Task { try await coordinator.run { [server] _ in try await server.get("/feed") } }
        try await banner.wait("shown") { $0 == true }
        #expect(coordinator.isVisible)
        server.recover()
        coordinator.retry()
        #expect(try await task.value == "page /feed")
        try await banner.wait("hidden again") { $0 == false }
        reader.cancel()
    }

    @Test func s1dTheCallerOfAnInterceptedRequestKnowsNothing() async throws {
        let coordinator = RetryCoordinator()
        let transport: any Transport = WaitingTransport(base: server, coordinator: coordinator)
        let task = Task { try await transport.get("/feed") }
        try await waiting(1, on: coordinator)
        server.recover()
        coordinator.retry()
        #expect(try await task.value == "page /feed")
        #expect(server.requests == ["/feed", "/feed"])
    }

    @Test func s1eRetryFiresByItselfWhenTheNetworkReturns() async throws {
        let coordinator = RetryCoordinator()
        // snippet: S1e
        let reachability = WakeSignal()  // whoever watches the network calls its send()
        let watch = Task { await coordinator.wakeUp(on: reachability) }
        // end
        let task = Task { try await coordinator.run { [server] _ in try await server.get("/feed") } }
        try await waiting(1, on: coordinator)
        server.recover()
        // The watch may not have begun to listen yet; networks come back more than once.
        while coordinator.isVisible {
            reachability.send()
            await Task.yield()
        }
        #expect(try await task.value == "page /feed")
        watch.cancel()
        await watch.value
    }

    @Test func s1fOtherErrorsCanBeWaitedOutToo() async throws {
        // snippet: S1f
        let waitedOut: Set<Trouble> = [.offline, .status(401), .status(403), .status(500)]
        let coordinator = RetryCoordinator { error in
            (error as? Trouble).map(waitedOut.contains) ?? false
        }
        // end
        server.fail(with: .status(401))
        let task = Task { try await coordinator.run { [server] _ in try await server.get("/feed") } }
        try await waiting(1, on: coordinator)
        server.recover()  // somebody signed in
        coordinator.retry()
        #expect(try await task.value == "page /feed")
        server.fail(with: .status(404))
        await #expect(throws: Trouble.status(404)) {
            try await coordinator.run { [server] _ in try await server.get("/feed") }
        }
        await #expect(throws: CancellationError.self) {
            try await coordinator.run { _ in throw CancellationError() }
        }
        #expect(!coordinator.isVisible)
    }

    @Test func s2cThreeCountdownsAndThenOnlyThePersonCounts() async throws {
        // snippet: S2c
        let coordinator = RetryCoordinator(countdown: .seconds(3), automaticRetryCountMax: 3, clock: clock)
        let feed = Task { try await coordinator.run("feed") { _ in try await server.get("/feed") } }
        // end
        for round in 1...3 {
            #expect(try await clock.sleepers() == .seconds(3))
            #expect(coordinator.incident.automaticRetryCountLeft == 4 - round)
            clock.advance(by: .seconds(3))
            try await server.requests(round + 1)
        }
        try await waiting(1, on: coordinator)
        #expect(coordinator.incident.isManualOnly)
        #expect(clock.sleeperCount == 0)
        server.recover()
        coordinator.retry()
        #expect(try await feed.value == "page /feed")
    }

    /// Looks until so many wait; the threads of the operations get their turn in between.
    private func waiting(_ count: Int, on coordinator: RetryCoordinator) async throws {
        try await eventually("\(count) waiting") { coordinator.incident.waitingCount == count }
    }
}

// snippet: S1d
protocol Transport: Sendable {
    func get(_ path: String) async throws -> String
}

struct WaitingTransport: Transport {
    let base: any Transport
    let coordinator: RetryCoordinator

    func get(_ path: String) async throws -> String {
        try await coordinator.run(path) { _ in try await base.get(path) }
    }
}
// end

extension ScriptedServer: Transport {}
