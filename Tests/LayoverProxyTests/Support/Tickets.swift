import Dispatch
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

extension String {
    /// A POST for `o.test` with all of its body.
    static func submission(_ path: String, body: String = "abc", _ fields: String...) -> String {
        "POST http://o.test\(path) HTTP/1.1\r\nHost: o.test\r\nContent-Length: \(body.utf8.count)\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    /// A request to the proxy itself.
    static func own(_ method: String, _ path: String, _ fields: [String] = []) -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }
}

extension RouteTable {
    /// No routes, and the default policy with a change.
    static func standard(_ change: (inout Policy) -> Void) -> RouteTable {
        var policy = Policy.standard
        change(&policy)
        return RouteTable(policies: ["default": policy])
    }

    /// A 503 is worth another attempt, whatever the request.
    static func retrying503(attemptsMax: Int? = nil) -> RouteTable {
        standard {
            $0.retryOn = [.status(503)]
            $0.repeatable = true
            $0.automaticAttemptsMax = attemptsMax
        }
    }
}

extension Answer {
    /// The ticket that a 202 names.
    var ticket: EntryID? { self["Location"]?.split(separator: "/").last.flatMap { EntryID($0) } }

    /// Checks that the answer is a 202 with a ticket.
    func expectTicket(at location: SourceLocation = #_sourceLocation) throws -> EntryID {
        #expect(status == 202, "\(statusLine)", sourceLocation: location)
        return try #require(ticket, sourceLocation: location)
    }
}

/// Runs a proxy with a store for one test.
func withTickets(
    _ tickets: TestStore = TestStore(), limits: PendingLimits = .init(),
    configuration change: (inout ProxyConfiguration) -> Void = { _ in },
    _ test: (TestProxy, TestStore) async throws -> Void
) async throws {
    try await withProxy(limits: limits, tickets: tickets, configuration: change) { try await test($0, tickets) }
}

extension TestProxy {
    /// Has a request accepted that its upstream hears nothing of yet.
    func accept(_ path: String = "/", body: String = "abc", _ fields: String...) async throws -> EntryID {
        var request = "POST http://o.test\(path) HTTP/1.1\r\nHost: o.test\r\nContent-Length: \(body.utf8.count)\r\n"
        request += "Prefer: respond-async, wait=0\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
        return try await answer(to: request).expectTicket()
    }

    /// A ticket whose first attempt is under way.
    ///
    /// - Parameter isMarked: Whether its start is recorded. Default: false.
    func ticketUnderWay(
        _ path: String = "/", body: String = "abc", isMarked: Bool = false
    ) async throws -> (EntryID, ScriptedAttempt) {
        let id = try await accept(path, body: body)
        let attempt = try await nextAttempt()
        if isMarked { #expect(await attempt.mark()) }
        return (id, attempt)
    }

    /// A ticket whose first attempt has failed before anything was sent.
    func waitingTicket(_ path: String = "/", body: String = "abc") async throws -> EntryID {
        let (id, attempt) = try await ticketUnderWay(path, body: body)
        attempt.fail()
        _ = try await until(id, is: .waiting)
        return id
    }

    /// Has the next attempt answered, as it goes well, and waits for the end of its ticket.
    func answerNext(
        _ what: String = "an attempt", of id: EntryID, _ status: Int = 200, _ fields: [String] = [], body: String = ""
    ) async throws {
        try await nextAttempt(what).answerWell(status, fields, body: body)
        _ = try await until(id, is: .delivered)
    }

    func ticket(_ id: EntryID, _ fields: String...) async throws -> Answer {
        try await client(sending: .own("GET", TicketAddress.path(of: id), fields)).answer("how the ticket stands")
    }

    func response(_ id: EntryID, method: String = "GET") async throws -> Answer {
        try await client(sending: .own(method, TicketAddress.path(of: id) + "/response"))
            .answer("the ticket's answer", toHead: method == "HEAD")
    }

    func drop(_ id: EntryID) async throws -> Answer {
        try await client(sending: .own("DELETE", TicketAddress.path(of: id))).answer("word that the ticket is dropped")
    }

    /// Once the ticket is in that state and its client is told so.
    func until(_ id: EntryID, is state: EntryState) async throws -> Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let response = try await ticket(id)
            if response.member("state") == state.rawValue { return response }
            guard ContinuousClock.now < deadline else {
                throw WaitedTooLong(what: "ticket \(state.rawValue), but it is: \(response.body)")
            }
        }
    }

    /// Ends the wait of the only client, as the timer of its `wait=N` does: a test decides what comes before it.
    func endWait() async throws {
        let loop = self.loop
        try await loop.eventLoop.submit {
            for connection in loop.connections.inOrder { (connection.exchange as? Exchange)?.askForTicket() }
        }.get()
    }

    /// Has the next attempt of a ticket begin, and the store not give its request until `tickets.goOn()`.
    func haltWhileReading(_ id: EntryID, after attempt: ScriptedAttempt, _ tickets: TestStore) async throws {
        attempt.fail(.connectionRefused, phase: .connecting, evidence: .neverSent)
        _ = try await until(id, is: .waiting)
        try await tickets.settle()
        tickets.halt()
        try await advance(by: .seconds(6))
        try await tickets.waitForWork()
    }

    /// An attempt that has taken the whole body of its request.
    func nextSentAttempt(_ what: String = "an attempt") async throws -> ScriptedAttempt {
        let attempt = try await nextAttempt(what)
        _ = try await attempt.wholeBody()
        return attempt
    }

    /// Nobody has an attempt to make, and nothing was handed to the upstream besides what the test saw.
    func expectAttempts(_ count: Int) async throws {
        try await settle()
        try await tickets?.settle()
        try await settle()
        #expect(upstream.startedCount == count)
    }
}

extension ScriptedAttempt {
    /// The request of a worker for its permit, before the first byte is sent.
    func mark() async -> Bool {
        guard let permit = attempt.permit else { return true }
        return await withCheckedContinuation { continuation in
            permit { continuation.resume(returning: $0) }
        }
    }

    /// Marked, sent and answered, as it goes well.
    func answerWell(_ status: Int = 200, _ fields: [String] = [], body: String = "") async throws {
        #expect(await mark())
        if request.body != nil { _ = try await wholeBody() }
        respond(status, fields + ["Content-Length: \(body.utf8.count)"], body: body)
    }
}
