import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Tickets whose place a newer PUT took, before and after a restart.
struct SupersededTests {
    private static let routes = RouteTable.standard { $0.coalesce = .lastPut }

    private static func put(_ proxy: TestProxy, _ body: String) async throws -> EntryID {
        let response = try await proxy.answer(
            to: "PUT http://o.test/x HTTP/1.1\r\nHost: o\r\nContent-Length: 1\r\nPrefer: respond-async, wait=0\r\n\r\n\(body)")
        return try #require(response.ticket)
    }

    private static func expectSuperseded(_ old: EntryID, by new: EntryID, _ proxy: TestProxy) async throws {
        let document = try await proxy.ticket(old)
        #expect(document.member("state") == "cancelled")
        let response = try await proxy.response(old).expectProblem(410, "superseded")
        // The id gives access to the newer ticket, which may belong to another client.
        #expect(!document.body.contains(new.description) && !response.body.contains(new.description))
    }

    @Test func supersededClientIsNotGivenTheIDOfTheTicket() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = Self.routes }) { proxy in
            _ = await proxy.engine.setMode(.offline, reason: nil)
            let held = try await proxy.client(sending: "PUT http://o.test/x HTTP/1.1\r\nHost: o\r\nContent-Length: 1\r\n\r\na")
            _ = try await proxy.entry()
            let ticket = try await Self.put(proxy, "b")
            let response = try await held.answer()
            #expect(response.status == 409 && response.member("kind") == "superseded")
            #expect(!response.body.contains(ticket.description))
        }
    }

    @Test func supersededTicketNamesItsSuccessorAfterARestart() async throws {
        let first = TestStore()
        var ids: [EntryID] = []
        try await withProxy(tickets: first, configuration: { $0.routes = Self.routes }) { proxy in
            _ = await proxy.engine.setMode(.offline, reason: nil)
            for body in ["a", "b", "c"] { ids.append(try await Self.put(proxy, body)) }
            try await Self.expectSuperseded(ids[0], by: ids[1], proxy)
            try await Self.expectSuperseded(ids[1], by: ids[2], proxy)
            try await first.settle()
        }
        try await withProxy(tickets: TestStore(after: first), configuration: { $0.routes = Self.routes }) { proxy in
            try await Self.expectSuperseded(ids[0], by: ids[1], proxy)
            // A child of the oldest ticket waits for the newest one.
            let attempt = try await proxy.nextAttempt()
            let child = try await proxy.accept("/child", "Layover-After: \(ids[0])")
            #expect(try await proxy.ticket(child).member("waitingFor") == "parent")
            try await attempt.answerWell()
            _ = try await proxy.until(ids[2], is: .delivered)
            try await proxy.answerNext(of: child)
            let late = try await proxy.accept("/late", "Layover-After: \(ids[1])")
            try await proxy.answerNext(of: late)
        }
    }

    /// The complete request was refused, the other one broke off, and nothing was sent.
    @Test(arguments: [true, false])
    func heldPutIsSupersededOnlyByACompletePut(breaksOff: Bool) async throws {
        try await withProxy(configuration: { $0.routes = Self.routes }) { proxy in
            _ = await proxy.engine.setMode(.offline, reason: nil)
            let whole = try await proxy.client(sending: "PUT http://o.test/x HTTP/1.1\r\nHost: o\r\nContent-Length: 1\r\n\r\na")
            let old = try await proxy.entry()
            let half = try await proxy.client(sending: "PUT http://o.test/x HTTP/1.1\r\nHost: o\r\nContent-Length: 4\r\n\r\nb")
            try await Self.until(proxy, hasLive: 2)
            if breaksOff { try await half.reset() } else { try await half.send("bcd") }
            try await Self.until(proxy, hasLive: 1)
            #expect(await proxy.engine.entry(old.id)?.state == (breaksOff ? .waiting : .cancelled))
            if !breaksOff { #expect(try await whole.answer().status == 409) }
            _ = await proxy.engine.setMode(.auto, reason: nil)
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == (breaksOff ? "a" : "bbcd"))
            attempt.respond(204)
            #expect(try await (breaksOff ? whole : half).answer().status == 204)
        }
    }

    private static func until(_ proxy: TestProxy, hasLive count: Int) async throws {
        try await eventually("\(count) live entries") { await proxy.engine.liveEntries().count == count }
    }
}
