import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// From hold to ticket: `respond-async, wait=N` and `holdMax`, in each phase of the exchange.
struct TurningTests {
    private static let both = "Prefer: respond-async, wait=1"

    /// No second attempt falls due before `holdMax`.
    private static let patient: RouteTable = {
        var policy = Policy.standard
        policy.delay = DelaySchedule(.constant(.seconds(7200)), jitter: .none)
        policy.repeatable = true
        return RouteTable(policies: ["default": policy])
    }()

    /// Parks the exchange without a word about its origin.
    private static func park(_ proxy: TestProxy, evidence: Evidence = .maybeApplied) async throws -> Entry {
        let attempt = try await proxy.nextAttempt()
        if evidence == .maybeApplied { attempt.beginSending() }
        attempt.fail(.connectionTerminated, phase: .sending, evidence: evidence)
        return try await proxy.entry()
    }

    /// A client whose wait is over, and the entry of its request, which the store is to write and does not yet.
    private static func clientBeingStored(_ proxy: TestProxy, _ tickets: TestStore) async throws -> (RawClient, Entry) {
        // Before the wait begins: it may be over before anything else is.
        tickets.halt()
        let client = try await proxy.client(sending: .submission("/", both))
        let entry = try await proxy.parkNext()
        try await tickets.waitForWork()
        return (client, entry)
    }

    @Test func parkedRequestBecomesATicketWhenItsWaitEnds() async throws {
        try await withTickets { proxy, tickets in
            // An incomplete request becomes no ticket: it is parked before, also if its wait ends earlier than its attempt.
            let client = try await proxy.client(sending: .post("/", length: 3, body: "ab", Self.both))
            let entry = try await proxy.parkNext()
            try await client.send("c")
            let response = try await client.answer().expectStatus(202)
            #expect(response["Preference-Applied"] == "respond-async, wait=1")
            #expect(response.ticket == entry.id, "the entry keeps its id")
            #expect(response.member("attempts") == "1")
            #expect(response.body.contains(#""evidence":"neverSent""#))
            try await proxy.expectTimes(of: entry.id, in: response)
            let record = try #require(try await tickets.record(of: entry.id))
            #expect(record.counts.all == 1)
            // Regression: the record kept the count of the moment at which the request was parked.
            #expect(record.requestByteCount == 3)
            let stored = try #require(await proxy.engine.entry(entry.id))
            #expect(stored.requestByteCount == 3 && stored.isBodyReplayable)
            try await client.send(.own("GET", TicketAddress.path(of: entry.id)))
            #expect(try await client.answer().member("attempts") == "1", "the connection lives on")
            client.close()
            let attempt = try await proxy.retry(entry.id)
            #expect(attempt.attempt.number == 2)
            try await attempt.answerWell(200, body: "done")
            _ = try await proxy.until(entry.id, is: .delivered)
            #expect(try await proxy.response(entry.id).body == "done")
            try await proxy.expectAttempts(2)
        }
    }

    @Test func parkedRequestGetsNoTicketBeforeItIsStored() async throws {
        try await withTickets { proxy, tickets in
            let (client, entry) = try await Self.clientBeingStored(proxy, tickets)
            // While it is being stored nothing is done with it.
            try await proxy.advance(by: .seconds(100))
            #expect(client.received.value.totalCount == 0)
            #expect(proxy.upstream.startedCount == 1)
            tickets.goOn()
            #expect(try await client.answer().ticket == entry.id)
            try await proxy.nextAttempt("what was due meanwhile").answerWell()
        }
    }

    @Test func firstAttemptContinuesAfterItsClientGotATicket() async throws {
        try await withTickets { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", Self.both))
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == "abc")
            let response = try await client.answer().expectStatus(202)
            let id = try #require(response.ticket)
            #expect(try await proxy.ticket(id).member("state") == "attempting")
            #expect(try await tickets.record(of: id)?.state == .attempting, "a crash must find it so")
            attempt.respond(200, ["Content-Length: 4", "X-From: origin"], body: "done")
            let document = try await proxy.until(id, is: .delivered)
            #expect(document.body.contains(#""X-From":"origin""#))
            #expect(try await proxy.response(id).body == "done")
            try await proxy.expectAttempts(1)
        }
    }

    @Test func responseThatBeginsWhileTheTicketIsStoredIsDelivered() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            // Before the wait begins: it may be over before anything else is.
            tickets.halt()
            let client = try await proxy.client(sending: .submission("/", body: String(repeating: "x", count: 500), Self.both))
            let attempt = try await proxy.nextSentAttempt()
            try await tickets.waitForWork()
            attempt.respond(200, ["Content-Length: 4"], body: nil)
            attempt.sendBody("do")
            try await proxy.settle()
            tickets.goOn()
            try await tickets.settle()
            attempt.sendBody("ne")
            attempt.finish()
            let response = try await client.answer().expectStatus(200)
            #expect(response.body == "done")
            let ended = try await proxy.entry(.delivered)
            try await proxy.settle()
            try await tickets.settle()
            #expect(try await tickets.record(of: ended.id)?.state == .delivered)
            try await eventually("an empty folder") { tickets.files.isEmpty }
            try await proxy.expectAttempts(1)
        }
    }

    @Test func clientThatExpects100GetsItWhenItsWaitEnds() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .post("/", length: 3, Self.both, "Expect: 100-continue"))
            _ = try await proxy.nextAttempt("an attempt that hangs")
            #expect(try await client.answer().status == 100)
            try await client.send("abc")
            #expect(try await client.answer().status == 202)
        }
    }

    /// Nobody waits without end for a body that does not come.
    @Test(arguments: [0, 3])
    func requestWithAPartialBodyEndsAtHoldMax(sent: Int) async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = Self.patient }) { proxy in
            let client = try await proxy.client(
                sending: .post("/", length: 6, body: String("abc".prefix(sent)), "Prefer: respond-async, wait=10000"))
            _ = try await Self.park(proxy, evidence: .neverSent)
            try await proxy.advance(by: .seconds(601))
            #expect(try await client.answer().status == 504)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test func clientThatAcceptsTicketsGetsOneAtHoldMax() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = Self.patient }) { proxy in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=10000"))
            let entry = try await Self.park(proxy)
            try await proxy.advance(by: .seconds(599))
            #expect(client.received.value.totalCount == 0)
            try await proxy.advance(by: .seconds(2))
            let response = try await client.answer().expectStatus(202)
            #expect(response.ticket == entry.id)
            #expect(await proxy.engine.entry(entry.id)?.state.isFinal == false)
        }
    }

    @Test func waitOfAnyLengthIsAccepted() async throws {
        try await withProxy(script: { $0.respondOnceSent(200) }, tickets: TestStore()) { proxy in
            let client = try await proxy.client(
                sending: .submission("/", "Prefer: respond-async, wait=99999999999999999999999")
                    + .submission("/", "Prefer: respond-async, wait=9223372036854775807")
                    + .submission("/", "Prefer: respond-async, wait=9223372036"))
            for _ in 0..<3 { #expect(try await client.answer().status == 200) }
        }
    }

    // MARK: The store says no

    @Test func requestThatCannotBeStoredStaysHeld() async throws {
        try await withTickets(TestStore(failing: 1...100_000), configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", body: String(repeating: "x", count: 500), Self.both))
            let entry = try await proxy.parkNext()
            try await eventually("a failure of the store") { await proxy.engine.status().totals.storeFailureCount > 0 }
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            try await eventually("an empty folder") { tickets.files.isEmpty }
            // The store is asked again every five seconds, and the entry has its ticket until the store refuses it.
            try await eventually("an entry without a ticket") { await proxy.engine.entry(entry.id)?.ticket == nil }
            let attempt = try await proxy.retry(entry.id)
            attempt.respondOnceSent(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func requestThatNeedsAFullSpoolStaysHeld() async throws {
        try await withTickets(TestStore(spoolTotal: 1000), configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let client = try await proxy.client(
                sending: .submission("/", body: String(repeating: "x", count: 3000), "Prefer: respond-async, wait=10000"))
            let first = try await proxy.nextAttempt()
            try await proxy.settle()
            #expect(try await first.wholeBody().utf8.count == 3000)
            first.fail()
            let entry = try await proxy.entry()
            #expect(entry.isBodyReplayable, "it had come whole, so it is kept without the spool")
            #expect(try await tickets.record(of: entry.id) == nil)
            let second = try await proxy.retry(entry.id)
            #expect(try await second.wholeBody().utf8.count == 3000)
            second.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }

    // MARK: The end of the wait

    @Test func cancelWhileTheTicketIsStoredCancelsIt() async throws {
        try await withTickets { proxy, tickets in
            let (client, entry) = try await Self.clientBeingStored(proxy, tickets)
            async let cancelled = proxy.engine.command(.cancel, entry.id)
            try await client.answer().expectProblem(503, "cancelled")
            tickets.goOn()
            #expect(await cancelled.0 == .done)
            try await tickets.settle()
            #expect(try await tickets.record(of: entry.id)?.state == .cancelled)
            try await proxy.expectAttempts(1)
        }
    }

    @Test func drainingGivesATicketToAClientThatAcceptsOne() async throws {
        try await withTickets { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=10000"))
            let entry = try await proxy.parkNext()
            let held = try await proxy.client(sending: .submission("/held"))
            try await proxy.nextAttempt("the first attempt of what came later").fail()
            try await eventually("two waiting entries") { await proxy.engine.liveEntries().count(where: { $0.state == .waiting }) >= 2 }
            await proxy.engine.drain()
            await proxy.server.drain(within: .seconds(20))
            let response = try await client.answer().expectStatus(202)
            #expect(response.ticket == entry.id)
            #expect(try await held.answer().status == 503)
            #expect(try await tickets.record(of: entry.id)?.state == .waiting)
        }
    }
}
