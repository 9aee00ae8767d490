import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Requests that become tickets before any attempt: `respond-async, wait=0`, and mode `defer`.
struct AcceptanceTests {
    @Test func ticketIsNeitherAnnouncedNorSentBeforeItIsStored() async throws {
        try await withTickets { proxy, tickets in
            tickets.halt()
            proxy.clock.advance(by: .seconds(3))
            let client = try await proxy.client(sending: .submission("/a?b", "Prefer: respond-async, wait=0"))
            try await tickets.waitForWork()
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            #expect(proxy.upstream.startedCount == 0)
            tickets.goOn()
            let response = try await client.answer().expectStatus(202)
            #expect(response["Preference-Applied"] == "respond-async")
            #expect(response["Content-Type"] == "application/json")
            #expect(response["Cache-Control"] == "no-store")
            let id = try #require(response.ticket)
            #expect(response["Location"] == "http://127.0.0.1:\(proxy.port)/.layover/tickets/\(id)")
            #expect(response.member("id") == "\(id)")
            #expect(response.member("state") == "waiting")
            #expect(response["Connection"] == nil, "the connection lives on")
            try await proxy.expectTimes(of: id, in: response)
            let attempt = try await proxy.nextAttempt("the attempt of the ticket")
            #expect(attempt.request.target == "/a?b")
            #expect(try await tickets.record(of: id)?.state == .waiting, "nothing has left yet")
            try await attempt.answerWell()
            _ = try await proxy.until(id, is: .delivered)
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: ["Prefer: respond-async, wait=0", "Layover-Mode: defer", "Layover-Policy: outbox"])
    func ticketIsStoredWithoutFieldsForTheProxy(field: String) async throws {
        try await withTickets { proxy, tickets in
            let response = try await proxy.answer(
                to: .submission(
                    "/", field, "Prefer: return=minimal, handling=lenient", "X-Mine: 1", "Layover-Lane: l",
                    "Proxy-Authorization: Basic c2VjcmV0", "TE: trailers", "Connection: TE"))
            let id = try #require(response.ticket)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Prefer").joined(separator: ", ") == "return=minimal, handling=lenient")
            #expect(attempt.values("X-Mine") == ["1"])
            #expect(attempt.values("TE") == [] && attempt.values("Connection") == [])
            #expect(!attempt.fields.contains { $0.lowercased().hasPrefix("layover-") || $0.lowercased().hasPrefix("proxy-") })
            #expect(attempt.request.method == "POST")
            #expect(attempt.request.host == "o.test")
            #expect(attempt.request.framing == .length(3))
            #expect(!attempt.request.expectsContinue)
            let stored = try #require(try await tickets.request(of: id))
            let lines = String(buffer: stored.fields.lines)
            #expect(!lines.contains("c2VjcmV0"), "credentials for us are never stored")
            #expect(stored.body == .inline(.init(string: "abc")))
            try await attempt.answerWell()
        }
    }

    @Test(arguments: ["Prefer: wait=5", "Prefer: return=minimal"])
    func otherPreferencesAreForwarded(field: String) async throws {
        try await withAttempt(of: .submission("/", field), tickets: TestStore()) { _, client, attempt async throws in
            #expect(attempt.fields.contains(field))
            attempt.respondOnceSent(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    /// A client that wants a ticket at once gets the error, and nothing is sent.
    @Test(arguments: ["Layover-Mode: defer", "Layover-Policy: outbox", "Prefer: respond-async, wait=0"])
    func requestForATicketIsRefusedWithTheReasonWithoutAStore(field: String) async throws {
        let reason = StoreFailure(.readOnly, "Read-only file system.")
        try await withProxy(configuration: { $0.noTickets = reason }) { proxy in
            let refused = try await proxy.answer(to: .submission("/", field)).expectStatus(507)
            #expect(refused.body.contains("store.path"))
            #expect(refused.body.contains("Read-only file system."))
            #expect(refused["Retry-After"] == "10")
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test func storeOpenedLaterIsUsedForTickets() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.noTickets = StoreFailure(.full, "Full.") }) { proxy in
            #expect(try await proxy.answer(to: .submission("/", "Prefer: respond-async, wait=0")).status == 507)
            proxy.loop.acceptTickets(unless: nil)
            #expect(try await proxy.answer(to: .submission("/", "Prefer: respond-async, wait=0")).status == 202)
            try await proxy.reload { $0 = ReloadableConfiguration() }
            #expect(
                try await proxy.answer(to: .submission("/", "Prefer: respond-async, wait=0")).status == 202,
                "a reload changes nothing about it")
        }
    }

    @Test func modePassMakesNoTicket() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async", "Layover-Mode: pass"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Prefer") == ["respond-async"])
            attempt.fail()
            #expect(try await client.answer().status == 502)
        }
    }

    // MARK: The store says no

    @Test(arguments: [
        (StoreFailure(.full, "Full."), "full"), (StoreFailure(.readOnly, "Read-only."), "read-only"),
        (StoreFailure(.io, "Bad."), "was not accepted"),
        (StoreFailure(.io, "Bad.", mayBeStored: true), "not known"),
    ])
    func requestThatIsNotOnDiskIsNotAccepted(failure: StoreFailure, words: String) async throws {
        try await withTickets(TestStore(failing: 1...1, as: failure)) { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=0"))
            let response = try await client.answer().expectStatus(507)
            #expect(response.body.contains(words))
            #expect(response["Location"] == nil)
            #expect(response["Retry-After"] == "10")
            try await proxy.expectAttempts(0)
            #expect(await proxy.engine.liveEntries().isEmpty)
            // The same client, once the disk has room again.
            try await client.send(.submission("/2", "Prefer: respond-async, wait=0"))
            #expect(try await client.answer().status == 202)
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.request.target == "/2")
            try await attempt.answerWell()
        }
    }

    @Test func ticketRefusedByAFullSetLeavesNoFile() async throws {
        var limits = PendingLimits()
        limits.entryCountMax = 1
        try await withTickets(limits: limits, configuration: { $0.body.inMemoryMax = 100 }) { proxy, tickets in
            let id = try await proxy.accept()
            _ = try await proxy.nextAttempt()
            let response = try await proxy.answer(
                to: .submission("/", body: String(repeating: "x", count: 5000), "Prefer: respond-async, wait=0"))
            #expect(response.status == 503)
            #expect(response.body.contains("limits.entries"))
            try await proxy.becomesEmpty(tickets)
            _ = try await proxy.drop(id)
        }
    }

    // MARK: Broken requests

    @Test func ticketWithAPartialBodyIsNotAccepted() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let client = try await proxy.client(
                sending: .post("/", length: 5000, body: String(repeating: "x", count: 1000), "Prefer: respond-async, wait=0"))
            try await proxy.settle()
            try await client.closeOutput()
            #expect(try await client.ending().rest == "")
            try await eventually("the connections to close") { proxy.openConnectionCount() == 0 }
            try await proxy.becomesEmpty(tickets)
            try await proxy.expectAttempts(0)
            #expect(tickets.store.commitCount <= 2)
        }
    }

    @Test func aBrokenChunkIs400AndNoTicket() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let response = try await proxy.answer(
                to:
                    "POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nPrefer: respond-async, wait=0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n"
            )
            #expect(response.status == 400)
            #expect(response["Connection"] == "close")
            try await proxy.expectAttempts(0)
        }
    }

    @Test func stalledBodyOfATicketIs408() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 10, body: "abc", "Prefer: respond-async, wait=0"))
            // A connection without a request would end as an idle one.
            try await proxy.waitForRequests(1)
            try await eventually("a response") {
                try await proxy.tick(in: .hours(3))
                return client.received.value.totalCount > 0
            }
            #expect(try await client.answer().status == 408)
        }
    }

    // MARK: The connection

    @Test func requestsAreAcceptedOneAfterTheOtherOnOneConnection() async throws {
        try await withProxy(script: { $0.respondOnceSent(200) }, tickets: TestStore()) { proxy in
            let client = try await proxy.client(
                sending: .submission("/1", "Prefer: respond-async, wait=0") + .submission("/2", "Prefer: respond-async, wait=0")
                    + .get("/3") + .get("/4", "Prefer: respond-async, wait=0"))
            #expect(try await client.answer().status == 202)
            #expect(try await client.answer().status == 202)
            #expect(try await client.answer().status == 200)
            #expect(try await client.answer().status == 202)
        }
    }

    @Test func ticketIsKeptIfItsClientLeavesWhileItIsStored() async throws {
        try await withTickets { proxy, tickets in
            tickets.halt()
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=0"))
            try await tickets.waitForWork()
            try await client.reset()
            try await eventually("the connections to close") { proxy.openConnectionCount() == 0 }
            tickets.goOn()
            try await proxy.nextAttempt().answerWell()
            _ = try await proxy.entry(.delivered)
        }
    }

    @Test(arguments: [
        ("GET /v1/x HTTP/1.1\r\nHost: api.local:8080", "http://api.local:8080", false),
        ("POST http://o.test/ HTTP/1.1\r\nHost: o.test\r\nContent-Length: 0", "https://proxy.example/base", true),
        ("POST /v1 HTTP/1.1\r\nHost: api.local:8080\r\nContent-Length: 0", "https://proxy.example/base", true),
    ])
    func locationBeginsWithThePublicURLOrTheHostThatTheClientUsed(head: String, base: String, isPublic: Bool) async throws {
        try await withProxy(
            script: { $0.respondOnceSent(200) }, tickets: TestStore(),
            configuration: { configuration in
                var route = Route(name: "api", policy: .standard)
                route.host = .exact("api.local")
                route.pathPrefix = "/v1"
                route.upstream = .init(origin: Origin(scheme: .http, host: "o.test", port: 80), basePath: "")
                configuration.routes = RouteTable(routes: [route])
                configuration.publicBase = isPublic ? base : nil
            }
        ) { proxy in
            let client = try await proxy.client(sending: head + "\r\nPrefer: respond-async, wait=0\r\n\r\n")
            let response = try await client.answer()
            let id = try #require(response.ticket)
            #expect(response["Location"] == "\(base)/.layover/tickets/\(id)")
            try await client.send("GET /.layover/tickets/\(id) HTTP/1.1\r\nHost: api.local:8080\r\n\r\n")
            #expect(try await client.answer().member("id") == "\(id)")
        }
    }

    @Test func drainingProxyAcceptsNoTickets() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, "Prefer: respond-async, wait=0"))
            try await proxy.settle()
            await proxy.engine.drain()
            try await client.send("abc")
            let response = try await client.answer().expectStatus(503)
            #expect(response["Retry-After"] == "5")
            try await proxy.expectAttempts(0)
        }
    }

    /// Also where the time to finish is over.
    @Test(arguments: [Duration.seconds(20), .zero])
    func ticketBeingStoredWhenTheProxyStopsIsAnnouncedAndKept(limit: Duration) async throws {
        try await withTickets { proxy, tickets in
            tickets.halt()
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=0"))
            try await tickets.waitForWork()
            await proxy.engine.drain()
            async let drained: Void = proxy.server.drain(within: limit)
            try await proxy.waitUntilDraining()
            tickets.goOn()
            let response = try await client.answer().expectStatus(202)
            #expect(response["Connection"] == "close")
            await drained
            let id = try #require(response.ticket)
            #expect(try await tickets.record(of: id)?.state == .waiting)
            #expect(proxy.upstream.startedCount == 0)
        }
    }
}

extension TestProxy {
    func waitUntilDraining() async throws {
        let loop = self.loop
        try await eventually("the stop of the loop") { try await loop.eventLoop.submit({ loop.isDraining }).get() }
    }

    /// The response that announces a ticket has the times of its document.
    func expectTimes(of id: EntryID, in response: Answer) async throws {
        let document = try await ticket(id)
        for name in ["createdAt", "expiresAt"] {
            #expect(response.member(name)?.hasSuffix("Z") == true)
            #expect(response.member(name) == document.member(name))
        }
        #expect(response.member("createdAt") != response.member("expiresAt"))
    }

    /// No file is left in the spool, and no byte is counted besides those of rows.
    func becomesEmpty(_ tickets: TestStore) async throws {
        try await eventually("an empty spool: \(tickets.files), \(spool.usedByteCount) bytes") {
            tickets.files.isEmpty && spool.usedByteCount == tickets.store.bodyByteCount
        }
    }
}
