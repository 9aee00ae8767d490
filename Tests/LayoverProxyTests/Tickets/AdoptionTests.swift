import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// `clientGone: adopt`: what its client leaves behind is done all the same.
struct AdoptionTests {
    private static func withAdoption(
        tickets: TestStore = TestStore(), _ change: (inout Policy) -> Void = { _ in },
        configuration: (inout ProxyConfiguration) -> Void = { _ in }, _ test: (TestProxy, TestStore) async throws -> Void
    ) async throws {
        var policy = Policy.standard
        policy.clientGone = .adopt
        change(&policy)
        let table = RouteTable(policies: ["default": policy])
        try await withProxy(
            tickets: tickets,
            configuration: {
                $0.routes = table
                configuration(&$0)
            }
        ) { try await test($0, tickets) }
    }

    private static func ticket(_ proxy: TestProxy) async throws -> EntryID {
        try await firstValue("an adopted request") {
            guard let entry = await proxy.engine.liveEntries().first, entry.ticket != nil, !entry.client.isConnected else { return nil }
            return try await proxy.tickets?.record(of: entry.id) == nil ? nil : entry.id
        }
    }

    @Test func parkedRequestIsAdoptedWhenItsClientLeaves() async throws {
        try await Self.withAdoption { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/"))
            let entry = try await proxy.parkNext()
            client.close()
            #expect(try await Self.ticket(proxy) == entry.id)
            let adopted = try #require(await proxy.engine.entry(entry.id))
            #expect(!adopted.client.isConnected)
            #expect(adopted.attemptCount == 1)
            _ = await proxy.engine.command(.retry, entry.id)
            try await proxy.answerNext(of: entry.id)
            try await proxy.expectAttempts(2)
        }
    }

    /// The client takes only the response of the attempt under way. Without one, the request is adopted.
    @Test(arguments: ["POST", "PUT"])
    func requestLeftDuringItsFirstAttemptIsAdoptedWhenThatFails(method: String) async throws {
        try await Self.withAdoption { proxy, tickets in
            let client = try await proxy.client(
                sending: "\(method) http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 1\r\n\r\nx")
            let attempt = try await proxy.nextSentAttempt()
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let id = try await Self.ticket(proxy)
            let entry = try #require(await proxy.engine.entry(id))
            #expect(entry.state == (method == "POST" ? .undecided : .waiting))
            #expect(entry.why == (method == "POST" ? .maybeApplied : nil))
            _ = try await client.ending()
            _ = await proxy.engine.command(method == "POST" ? .force : .retry, id, acknowledgement: "duplicate-risk")
            try await proxy.answerNext(of: id)
            try await proxy.expectAttempts(2)
        }
    }

    /// The store takes nothing, so the request stays in memory; the response is not the last one.
    @Test func unstoredAdoptedRequestIsSentAgainAfterARetriedStatus() async throws {
        let tickets = TestStore()
        tickets.setFull(true)
        func retries(_ policy: inout Policy) {
            policy.retryOn = [.connectivity, .status(503)]
            policy.repeatable = true
            // Long enough for the test to see that it waits.
            policy.delay = DelaySchedule(.constant(.seconds(60)), jitter: .none)
        }
        try await Self.withAdoption(tickets: tickets, retries) { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/"))
            let attempt = try await proxy.nextSentAttempt()
            try await client.reset()
            try await eventually("the connections to close") { proxy.openConnectionCount() == 0 }
            try await proxy.settle()
            try await tickets.settle()
            attempt.respond(503, ["Content-Length: 0"])
            let entry = try await proxy.entry()
            try await proxy.retry(entry.id, "the one after the 503").answerWell()
            _ = try await proxy.entry(.delivered)
            try await proxy.expectAttempts(2)
        }
    }

    /// At rest it needs nobody in memory, and nothing that stopping would wait for.
    @Test func adoptedTicketAtRestDoesNotDelayTheStop() async throws {
        try await Self.withAdoption { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/"))
            try await proxy.parkNext()
            client.close()
            let id = try await Self.ticket(proxy)
            try await proxy.settle()
            await proxy.engine.drain()
            let loop = proxy.loop
            try await withThrowingTaskGroup { group in
                group.addTask { try await loop.drain().get() }
                group.addTask {
                    try await loop.eventLoop.scheduleTask(in: .seconds(60)) {}.futureResult.get()
                    throw WaitedTooLong(what: "the end of draining")
                }
                try await group.next()
                group.cancelAll()
            }
            #expect(try await tickets.record(of: id)?.state == .waiting)
        }
    }

    /// The response may come before the ticket is stored.
    @Test(arguments: [true, false])
    func attemptUnderWayContinuesDuringAdoption(isStoredFirst: Bool) async throws {
        try await Self.withAdoption { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", body: "hello"))
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == "hello")
            if !isStoredFirst { tickets.halt() }
            try await client.reset()
            if isStoredFirst { _ = try await Self.ticket(proxy) } else { try await tickets.waitForWork() }
            #expect(!attempt.seen.value.isCancelled)
            attempt.respond(200, ["Content-Length: 4"], body: "done")
            let entry = try await proxy.entry(.delivered)
            tickets.goOn()
            _ = try await proxy.until(entry.id, is: .delivered)
            #expect(try await proxy.response(entry.id).body == "done")
            try await proxy.expectAttempts(1)
        }
    }

    /// The head used to be sent again, without its body. A body over `limits.bodyMax` is sent only once.
    @Test(arguments: ["POST", "PUT"], ["X: y", "Prefer: respond-async, wait=600"])
    func requestWithoutItsBodyIsNotAdopted(method: String, field: String) async throws {
        let body = String(repeating: "x", count: 500)
        try await Self.withAdoption(configuration: { ($0.body.byteCountMax, $0.body.inMemoryMax) = (100, 10) }) { proxy, tickets in
            let client = try await proxy.client(
                sending: "\(method) http://o.test/ HTTP/1.1\r\nHost: o\r\nContent-Length: 500\r\n\(field)\r\n\r\n\(body)")
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == body)
            try await client.reset()
            let entry = try await proxy.entry(.attempting)
            #expect(!attempt.seen.value.isCancelled, "what may have been applied is let finish")
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let ended = try await proxy.entry(.cancelled)
            #expect(ended.id == entry.id && ended.adoptionObstacle == .bodyTooLong)
            #expect(ended.lastFailure?.evidence == .maybeApplied)
            try await proxy.expectAttempts(1)
            #expect(await proxy.engine.liveEntries().isEmpty)
            #expect(try await tickets.record(of: entry.id) == nil)
        }
    }

    /// A request without room on the disk continues in memory, at most as long as its client would have been held.
    @Test func unstoredRequestThatWantedATicketEndsInTime() async throws {
        try await Self.withAdoption(
            tickets: TestStore(spoolTotal: 1000),
            { $0.delay = DelaySchedule(.constant(.seconds(7200)), jitter: .none) }, configuration: { $0.body.inMemoryMax = 10 }
        ) { proxy, _ in
            let client = try await proxy.client(
                sending: .submission("/", body: String(repeating: "x", count: 3000), "Prefer: respond-async, wait=3600"))
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody().utf8.count == 3000)
            attempt.fail()
            let entry = try await proxy.entry()
            client.close()
            try await eventually("the connection to close") { proxy.openConnectionCount() == 0 }
            try await proxy.advance(by: .seconds(601))
            // A thread of the spool reports that there is no room. The second attempt must not fall due before.
            try await eventually("the end of the entry") {
                try await proxy.advance(by: .milliseconds(1))
                return await proxy.engine.entry(entry.id)?.state != .waiting
            }
            #expect(await proxy.engine.entry(entry.id)?.state == .expired)
        }
    }

    @Test func storingIsTriedAgainWhenTheClientLeaves() async throws {
        try await Self.withAdoption(tickets: TestStore(failing: 1...1)) { proxy, tickets in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=1"))
            let entry = try await proxy.parkNext()
            try await eventually("a failure of the store") { await proxy.engine.status().totals.storeFailureCount > 0 }
            try await proxy.settle()
            client.close()
            #expect(try await Self.ticket(proxy) == entry.id)
        }
    }
}
