import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverEngine
@testable import LayoverProxy

/// Requests with an `Idempotency-Key` while the store cannot be searched for it.
struct UnknownKeyTests {
    private static let async = "Prefer: respond-async, wait=0"
    private static let waits = "Prefer: respond-async, wait=600"
    private static let key = "Idempotency-Key: k-1"
    private static let failure = StoreFailure(.io, "The disk failed.")

    /// Sends it, and waits until a search for its key has failed. Its client may have the response by then.
    private func unknown(_ proxy: TestProxy, _ request: String) async throws -> RawClient {
        proxy.tickets?.setUnsearchable(Self.failure)
        let client = try await proxy.client(sending: request)
        try await eventually("a search that failed") {
            if client.received.value.totalCount > 0 { return true }
            return try await isWaitingForKey(proxy)
        }
        return client
    }

    private func isWaitingForKey(_ proxy: TestProxy) async throws -> Bool {
        let loop = proxy.loop
        return try await loop.eventLoop.submit {
            loop.connections.inOrder.contains { connection in
                (connection.exchange as? Exchange)?.machine.awaitsKey == true
            }
        }.get()
    }

    @Test func requestIsSentOnceTheStoreCanBeSearched() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await unknown(proxy, .submission("/", Self.waits, Self.key))
            try await proxy.expectAttempts(0)
            proxy.tickets?.setUnsearchable(nil)
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await client.answer().status == 201)
        }
    }

    @Test(arguments: ["abc", "other"])
    func ticketThatIsFoundLaterIsTheOutcomeForAnEqualPayload(body: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await proxy.accept("/", Self.key)
            let attempt = try await proxy.nextAttempt()
            let client = try await unknown(proxy, .submission("/", body: body, Self.waits, Self.key))
            try await proxy.expectAttempts(1)
            proxy.tickets?.setUnsearchable(nil)
            let response = try await client.answer().expectStatus(body == "abc" ? 202 : 422)
            #expect(response.ticket == (body == "abc" ? id : nil))
            try await attempt.answerWell()
            _ = try await proxy.until(id, is: .delivered)
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: [("Prefer: respond-async, wait=1", 600), (waits, 1)])
    func requestGets503WhenItsWaitOrHoldMaxIsOver(prefer: String, holdMax: Int) async throws {
        let routes = RouteTable.standard { $0.holdMax = .seconds(holdMax) }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = routes }) { proxy in
            let client = try await unknown(proxy, .submission("/", prefer, Self.key))
            let response = try await client.answer().expectProblem(503, "store")
            #expect(response.member("evidence") == "neverSent")
            #expect(response["Retry-After"] == "10")
            try await proxy.expectAttempts(0)
        }
    }

    @Test func clientThatLeavesIsNotSentLater() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await unknown(proxy, .submission("/", Self.waits, Self.key))
            try await client.closeOutput()
            try await eventually("the end of the wait") { try await !isWaitingForKey(proxy) }
            proxy.tickets?.setUnsearchable(nil)
            let next = try await proxy.client(sending: .submission("/", Self.waits, Self.key))
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await next.answer().status == 201)
            try await proxy.expectAttempts(1)
        }
    }

    /// The insertion finds the ticket before anything is sent.
    @Test func requestForATicketAtOnceIsComparedByItsInsertion() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await proxy.accept("/", Self.key)
            proxy.tickets?.setUnsearchable(Self.failure)
            let same = try await proxy.answer(to: .submission("/", Self.async, Self.key))
            #expect(same.ticket == id)
            #expect(try await proxy.answer(to: .submission("/", body: "other", Self.async, Self.key)).status == 422)
            try await proxy.answerNext(of: id)
            try await proxy.expectAttempts(1)
        }
    }

    // MARK: Lanes

    /// The store is to be opened later, and may have tickets of the lane.
    @Test func requestWithALaneIsNotSentBeforeTheStoreIsOpen() async throws {
        try await withProxy(configuration: { $0.keepsLanesWaiting = true }) { proxy in
            let engine = proxy.engine
            try await engine.eventLoop.submit { engine.assumeIsolated { $0.pending.lanesAreUnknown() } }.get()
            let client = try await proxy.client(sending: .submission("/lane", "Layover-Lane: a"))
            #expect(try await proxy.entry().waitingFor == .lane)
            let other = try await proxy.client(sending: .submission("/other"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.target == "/other")
            try await attempt.answerWell(200)
            #expect(try await other.answer().status == 200)
            try await proxy.expectAttempts(1)
            proxy.loop.acceptTickets(unless: nil)
            try await engine.eventLoop.submit {
                engine.assumeIsolated { $0.perform($0.pending.handle(RestoringEnded(), now: $0.clock.now(), using: &$0.jitter)) }
            }.get()
            try await proxy.nextAttempt().answerWell(201)
            #expect(try await client.answer().status == 201)
            let next = try await proxy.client(sending: .submission("/lane", "Layover-Lane: a"))
            try await proxy.nextAttempt().answerWell(202)
            #expect(try await next.answer().status == 202)
        }
    }
}
