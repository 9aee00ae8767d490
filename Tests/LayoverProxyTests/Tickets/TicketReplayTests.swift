import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// The attempts of a ticket, in one process and the next.
struct TicketReplayTests {
    @Test func aTokenInTheAuthorityIsRefused() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = EntryID(high: 1, low: 2)
            for wanted in ["respond-async", "respond-async, wait=5"] {
                let response = try await proxy.answer(
                    to: "GET http://~ticket.\(id).json.host~/ HTTP/1.1\r\nHost: x\r\nPrefer: \(wanted)\r\n\r\n")
                response.expectProblem(400, "token")
            }
            #expect(proxy.upstream.startedCount == 0)
        }
    }

    @Test(arguments: [("/~ticket.%~x", "A token names"), ("/", "Layover-After names")])
    func problemOfAnUnknownParentNamesTheTokenOrField(path: String, words: String) async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = EntryID(high: 1, low: 2)
            let target = path == "/" ? "/" : "/~ticket.\(id).json.id~"
            let after = path == "/" ? "Layover-After: \(id)" : "X: 1"
            let response = try await proxy.answer(to: .submission(target, "Prefer: respond-async, wait=0", after))
            response.expectProblem(400, "unknown_ticket")
            #expect(response.member("detail")?.hasPrefix(words) == true)
        }
    }

    /// A list may stand on several lines (RFC 9110 section 5.3).
    @Test func everyLayoverAfterLineAddsAParent() async throws {
        try await withTickets { proxy, tickets in
            let parents = [try await proxy.accept("/1"), try await proxy.accept("/2")]
            let child = try await proxy.accept(
                "/3", "Layover-After: \(parents[0])", "Layover-After: \(parents[1])")
            #expect(try await tickets.record(of: child)?.parents == parents)
        }
    }

    /// The route was looked up by the address of a request that was not there yet, so its settings were lost.
    @Test func reloadWhileTheRequestIsReadLeavesTheSettingsOfItsRoute() async throws {
        var route = Route(name: "v1", policy: .standard)
        route.host = .exact("o.test")
        route.pathPrefix = "/v1"
        route.allowAddresses = ["169.254.1.1"]
        let (tickets, routes) = (TestStore(), RouteTable(routes: [route]))
        try await withProxy(tickets: tickets, configuration: { $0.routes = routes }) { proxy in
            let (id, first) = try await proxy.ticketUnderWay("/v1/a")
            #expect(first.request.allowAddresses == ["169.254.1.1"])
            #expect(await first.mark())
            try await proxy.haltWhileReading(id, after: first, tickets)
            try await proxy.reload { _ in }
            tickets.goOn()
            let second = try await proxy.nextAttempt()
            #expect(second.request.allowAddresses == ["169.254.1.1"])
        }
    }

    // MARK: Changes before the mark

    /// The change does not concern the attempt: it goes on, and is not repeated later.
    @Test(arguments: [false, true])
    func changeBeforeTheStartRecordDoesNotStopTheAttempt(isReload: Bool) async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay()
            if isReload {
                await proxy.engine.adopt(RouteTable.standard { $0.lifetime = .seconds(7000) })
                try await tickets.settle()
            } else {
                #expect(await proxy.engine.patch(id, EntryPatch(priority: 1)).0 == .done)
            }
            let revision = try #require(try await tickets.record(of: id)?.revision)
            #expect(await attempt.mark())
            let marked = try #require(try await tickets.record(of: id))
            #expect(marked.state == .attempting)
            #expect(marked.revision >= revision)
            attempt.respond(200)
            _ = try await proxy.until(id, is: .delivered)
            try await proxy.expectAttempts(1)
        }
    }

    @Test func attemptCutOffByACancelIsCountedInTheStore() async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.beginSending()
            try await attempt.outliveCancel()
            #expect(await proxy.engine.command(.cancel, id).0 == .done)
            #expect(try await tickets.record(of: id)?.state == .cancelled)
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            try await proxy.settle()
            try await tickets.settle()
            let entry = try #require(await proxy.engine.entry(id))
            #expect(entry.state == .cancelled && entry.attemptCount == 1)
            let record = try #require(try await tickets.record(of: id))
            #expect(record.state == .cancelled)
            #expect(record.counts == AttemptCounts(all: 1, automatic: 1, mayHaveBeenApplied: true))
            #expect(record.attempts.records.map(\.number) == [1])
            #expect(record.lastFailure?.evidence == .maybeApplied)
            #expect(try await proxy.ticket(id).body.contains(#""attempts":1"#))
        }
    }

    /// Also where the disk is full when it is cancelled, and has room again a moment later.
    @Test(arguments: [true, false])
    func ticketCancelledBeforeItsFirstByteIsNeverSent(isStored: Bool) async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay()
            try await attempt.outliveCancel()
            tickets.setFull(!isStored)
            #expect(try await proxy.drop(id).status == (isStored ? 204 : 507))
            tickets.setFull(false)
            #expect(await !attempt.mark())
            #expect(try await tickets.record(of: id)?.state != .attempting)
            attempt.fail(.proxyInternalResponse)
            _ = try await proxy.until(id, is: .cancelled)
        }
    }

    @Test func ticketCancelledWhileItsStartIsRecordedIsNotSent() async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay()
            tickets.halt()
            async let isMarked = attempt.mark()
            try await tickets.waitForWork()
            async let cancelled = proxy.engine.command(.cancel, id)
            try await attempt.seen.wait("the end of the attempt") { $0.isOver }
            tickets.goOn()
            #expect(await !isMarked)
            #expect(await cancelled.0 == .done)
            #expect(try await tickets.record(of: id)?.state == .cancelled)
        }
    }

    /// A change that failed before is stored together with the start record, so the row does not contradict it.
    @Test func changeThatCouldNotBeStoredIsStoredWithTheStartRecord() async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay()
            tickets.setFull(true)
            #expect(await proxy.engine.patch(id, EntryPatch(priority: 1)).0 != .done)
            #expect(await !attempt.mark())
            tickets.setFull(false)
            #expect(await attempt.mark())
            let record = try #require(try await tickets.record(of: id))
            #expect(record.state == .attempting)
            #expect(record.priority == 1)
            #expect(await proxy.engine.isSaved(id))
            attempt.respond(200)
            _ = try await proxy.until(id, is: .delivered)
        }
    }

    @Test func ticketThatHasEndedInTheStoreIsUndecided() async throws {
        try await withTickets { proxy, tickets in
            let id = try await proxy.waitingTicket()
            // Somebody else's doing: the row says that it is over.
            var record = try #require(try await tickets.record(of: id))
            record.state = .cancelled
            record.endedAt = record.createdAt
            record.revision += 100
            _ = try await tickets.store.commit([.update(record)])
            _ = await proxy.engine.command(.retry, id)
            #expect(try await proxy.until(id, is: .undecided).member("why") == "rejected")
            try await proxy.expectAttempts(1)
        }
    }

    /// A damaged row, or a sealed field and the wrong key: it reads the same however often it is tried.
    @Test func ticketWithADamagedRowIsUndecided() async throws {
        try await withTickets { proxy, tickets in
            let id = try await proxy.waitingTicket()
            tickets.setUnreadable(StoreFailure(.corrupt, "A sealed field value does not open."))
            _ = await proxy.engine.command(.retry, id)
            let document = try await proxy.until(id, is: .undecided)
            #expect(document.member("why") == "rejected")
            #expect(document.body.contains("A sealed field value does not open."))
            tickets.setUnreadable(nil)
            _ = await proxy.engine.command(.retry, id)
            try await proxy.answerNext("an attempt with the right key", of: id)
        }
    }

    /// The disk may be well again: nobody is asked.
    @Test func ticketIsRetriedAfterAReadErrorOfTheStore() async throws {
        try await withTickets { proxy, tickets in
            let id = try await proxy.waitingTicket()
            tickets.setUnreadable(StoreFailure(.io, "Reading failed."))
            _ = await proxy.engine.command(.retry, id)
            #expect(try await proxy.until(id, is: .waiting).member("why") == "null")
            tickets.setUnreadable(nil)
            try await proxy.advance(by: .seconds(6))
            try await proxy.answerNext("an attempt once it can be read", of: id)
        }
    }

    @Test func responseWithARetriedStatusIsNotStored() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = .retrying503() }) { proxy in
            let (id, first) = try await proxy.ticketUnderWay()
            try await first.answerWell(503, body: "busy")
            _ = try await proxy.until(id, is: .waiting)
            #expect(try await proxy.response(id).status == 409)
            _ = await proxy.engine.command(.retry, id)
            try await proxy.answerNext(of: id, 200, body: "done")
            #expect(try await proxy.response(id).body == "done")
        }
    }

    @Test func lastResponseIsStoredWhenNoAttemptIsLeft() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = .retrying503(attemptsMax: 1) }) { proxy in
            let id = try await proxy.accept()
            try await proxy.answerNext(of: id, 503, body: "busy")
            let response = try await proxy.response(id).expectStatus(503)
            #expect(response.body == "busy")
        }
    }

    // MARK: The next process

    @Test func waitingTicketsGoOnAfterARestart() async throws {
        let first = TestStore()
        var ids: [EntryID] = []
        try await withProxy(tickets: first, configuration: { $0.body.inMemoryMax = 10 }) { proxy in
            ids.append(try await proxy.accept("/small", body: "s"))
            try await proxy.nextAttempt().fail()
            ids.append(try await proxy.accept("/big", body: String(repeating: "x", count: 500)))
            try await proxy.settle()
        }
        let second = TestStore(after: first)
        try await withProxy(tickets: second, configuration: { $0.body.inMemoryMax = 10 }) { proxy in
            try await proxy.advance(by: .seconds(100))
            var targets: [String: String] = [:]
            for _ in ids {
                let attempt = try await proxy.nextAttempt()
                #expect(await attempt.mark())
                targets[attempt.request.target] = try await attempt.wholeBody()
                attempt.respond(200)
            }
            #expect(targets == ["/small": "s", "/big": String(repeating: "x", count: 500)])
            for id in ids { _ = try await proxy.until(id, is: .delivered) }
            try await eventually("an empty folder") { second.files.isEmpty }
            try await proxy.expectAttempts(2)
        }
    }

    @Test func endedTicketsStayEndedAfterARestart() async throws {
        let first = TestStore()
        var ids: [EntryID] = []
        try await withProxy(tickets: first, configuration: { $0.body.inMemoryMax = 10 }) { proxy in
            ids.append(try await proxy.accept("/1"))
            try await proxy.answerNext(of: ids[0], 201, body: "a long enough answer")
            ids.append(try await proxy.waitingTicket("/2"))
            #expect(try await proxy.drop(ids[1]).status == 204)
        }
        try await withProxy(tickets: TestStore(after: first)) { proxy in
            #expect(try await proxy.ticket(ids[0], "Prefer: wait=600").member("state") == "delivered")
            #expect(try await proxy.response(ids[0]).body == "a long enough answer")
            #expect(try await proxy.ticket(ids[1]).member("state") == "cancelled")
            #expect(try await proxy.response(ids[1]).status == 410)
            try await proxy.expectAttempts(0)
        }
    }
}
