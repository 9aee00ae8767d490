import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// `Prefer: respond-async` under `async: "whenAway"`: the origin gets the preference, and its client a ticket where there is no response.
struct WhenAwayTests {
    private static let async = "Prefer: respond-async"

    private static func configuration(
        _ rule: Policy.AsyncRule, _ route: Policy.AsyncRule?, lane: LaneRule?
    ) -> (inout ProxyConfiguration) -> Void {
        { configuration in
            var policy = Policy.standard
            policy.async = rule
            policy.lane = lane
            var routes: [Route] = []
            if let route {
                var own = Route(name: "r", policy: policy)
                own.host = .exact("o.test")
                own.async = route
                routes.append(own)
            }
            configuration.routes = RouteTable(policies: ["default": policy], routes: routes)
        }
    }

    // MARK: The origin answers

    @Test(arguments: ["respond-async", "respond-async, wait=10", "return=minimal, respond-async"])
    func originGetsThePreferenceAndItsResponseIsDelivered(prefer: String) async throws {
        try await withAttempt(of: .submission("/$export", "Prefer: \(prefer)"), tickets: TestStore()) { proxy, client, attempt in
            #expect(attempt.values("Prefer") == [prefer])
            attempt.respondOnceSent(202, ["Content-Location: http://o.test/status/1", "Content-Length: 0"])
            let response = try await client.answer().expectStatus(202)
            #expect(response["Content-Location"] == "http://o.test/status/1")
            #expect(response["Preference-Applied"] == nil && response.ticket == nil)
            #expect(await proxy.engine.liveEntries().isEmpty)
            try await proxy.expectAttempts(1)
        }
    }

    @Test func statusInRetryOnIsRetriedForTheWaitingClient() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = .retrying503() }) { proxy in
            let client = try await proxy.client(sending: .submission("/", Self.async))
            try await proxy.nextAttempt().respondOnceSent(503, ["Content-Length: 0"])
            let entry = try await proxy.entry()
            try await proxy.settle()
            #expect(entry.ticket == nil && client.received.value.totalCount == 0, "the origin is not away")
            try await proxy.advance(by: .seconds(30))
            try await proxy.nextAttempt("the retry").respondOnceSent(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func slowOriginIsWaitedFor() async throws {
        try await withAttempt(of: .submission("/", Self.async), tickets: TestStore()) { proxy, client, attempt in
            _ = try await attempt.wholeBody()
            try await proxy.advance(by: .seconds(3600))
            #expect(client.received.value.totalCount == 0)
            attempt.respond(200, ["Content-Length: 4"], body: "slow")
            #expect(try await client.answer().body == "slow")
        }
    }

    // MARK: The origin is away

    @Test(arguments: [false, true])
    func failedFirstAttemptBecomesATicket(isSent: Bool) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let request = isSent ? String.submission("/", Self.async, "Idempotency-Key: k") : .submission("/", Self.async)
            let client = try await proxy.client(sending: request)
            let attempt = try await proxy.nextSentAttempt()
            if isSent {
                attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            } else {
                attempt.fail()
            }
            let response = try await client.answer("a ticket").expectStatus(202)
            #expect(response["Preference-Applied"] == "respond-async")
            let id = try #require(response.ticket)
            try await proxy.advance(by: .seconds(60))
            let replay = try await proxy.nextAttempt("the replay")
            #expect(replay.values("Prefer") == ["respond-async"], "a replay gets what the first attempt got")
            try await replay.answerWell(202, ["Content-Location: http://o.test/status/1"])
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.response(id)["Content-Location"] == "http://o.test/status/1")
        }
    }

    @Test func shutGateIsATicketAtOnce() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            _ = try await proxy.client(sending: .get("/held"))
            try await proxy.parkNext()
            try await proxy.settle()
            let response = try await proxy.answer(to: .submission("/", Self.async)).expectStatus(202)
            #expect(response.ticket != nil)
        }
    }

    /// The client is still sending when its attempt fails: it goes on, and gets its ticket then.
    @Test func ticketWaitsForTheEndOfTheBody() async throws {
        try await withParked(.post("/", length: 6, body: "abc", Self.async), tickets: TestStore()) { proxy, client, _ in
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            try await client.send("def")
            let id = try #require(try await client.answer("a ticket").ticket)
            #expect(try await proxy.tickets?.request(of: id)?.body == .inline(.init(string: "abcdef")))
        }
    }

    @Test func storeThatIsNotOpenLeavesTheClientWaiting() async throws {
        try await withParked(.submission("/", Self.async)) { proxy, client, _ in
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            try await proxy.advance(by: .seconds(60))
            try await proxy.nextAttempt("the retry").respondOnceSent(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    /// Mode `offline` ends an attempt that has sent nothing. The request is sent when the mode ends.
    @Test func modeOfflineDuringTheFirstAttemptIsATicket() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .submission("/", Self.async))
            _ = try await proxy.nextAttempt()
            await proxy.setMode(.offline)
            let id = try #require(try await client.answer("a ticket").ticket)
            await proxy.setMode(.auto)
            try await proxy.answerNext("the ticket's", of: id)
        }
    }

    /// The network change ends the attempt, and the shut gate keeps the request from another one.
    @Test func networkChangeBehindAShutGateIsATicket() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: .submission("/", Self.async))
            _ = try await proxy.nextAttempt()
            _ = try await proxy.client(sending: .get("/held"))
            try await proxy.parkNext()
            try await proxy.settle()
            proxy.loop.networkChanged()
            #expect(try await client.answer("a ticket").status == 202)
            try await proxy.expectAttempts(2)
        }
    }

    /// A person decides about the ticket: it may have been applied.
    @Test func undecidedRequestIsATicketUnderAsk() async throws {
        let routes = RouteTable.standard { $0.onMaybeApplied = .ask }
        try await withProxy(tickets: TestStore(), configuration: { $0.routes = routes }) { proxy in
            let client = try await proxy.client(sending: .submission("/", Self.async))
            let attempt = try await proxy.nextSentAttempt()
            attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            let id = try #require(try await client.answer("a ticket").ticket)
            _ = try await proxy.until(id, is: .undecided)
            #expect(await proxy.engine.entry(id)?.why == .maybeApplied)
            _ = await proxy.engine.hintChanged()
            try await proxy.advance(by: .seconds(3600))
            try await proxy.expectAttempts(1)
        }
    }

    // MARK: Requests that are always tickets

    @Test(arguments: [
        "Prefer: respond-async, wait=0", "Prefer: respond-async\r\nLayover-Lane: till", "Layover-Mode: defer\r\nPrefer: respond-async",
        "Prefer: respond-async\r\nX-Order: ~uuid~", "Prefer: respond-async\r\nContent-Type: application/json\r\nX-Body: token",
    ])
    func alwaysKindsAreTicketsAtOnce(fields: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let body = fields.contains("X-Body") ? #"["~uuid~"]"# : "abc"
            let response = try await proxy.answer(to: .submission("/", body: body, fields)).expectStatus(202)
            #expect(response["Preference-Applied"] == "respond-async")
            let replay = try await proxy.nextAttempt("the replay")
            #expect(replay.attempt.permit != nil, "it is a ticket's")
            #expect(replay.values("Prefer") == [], "the preference was honoured here")
            try await replay.answerWell()
        }
    }

    // MARK: The rules

    private static let always: [(Policy.AsyncRule, Policy.AsyncRule?, LaneRule?)] = [
        (.always, nil, nil), (.whenAway, .always, nil), (.never, .always, nil), (.whenAway, nil, .origin),
    ]
    private static let never: [(Policy.AsyncRule, Policy.AsyncRule?)] = [(.never, nil), (.always, .never)]

    @Test(arguments: always)
    func alwaysIsATicketAtOnce(policy: Policy.AsyncRule, route: Policy.AsyncRule?, lane: LaneRule?) async throws {
        try await withProxy(tickets: TestStore(), configuration: Self.configuration(policy, route, lane: lane)) { proxy in
            #expect(try await proxy.answer(to: .submission("/", "Prefer: respond-async, return=minimal")).status == 202)
            let replay = try await proxy.nextAttempt("the replay")
            #expect(replay.values("Prefer") == ["return=minimal"])
            try await replay.answerWell()
        }
    }

    /// The client waits first, also where the origin is slow.
    @Test func alwaysWithAWaitIsATicketWhenItsWaitEnds() async throws {
        try await withProxy(tickets: TestStore(), configuration: Self.configuration(.always, nil, lane: nil)) { proxy in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=600"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Prefer") == [], "the preference was honoured here")
            #expect(try await attempt.wholeBody() == "abc")
            #expect(client.received.value.totalCount == 0)
            try await proxy.endWait()
            let response = try await client.answer("a ticket").expectStatus(202)
            #expect(response["Preference-Applied"] == "respond-async, wait=600")
            let id = try #require(response.ticket)
            attempt.respond(200, ["Content-Length: 4"], body: "done")
            _ = try await proxy.until(id, is: .delivered)
            try await proxy.expectAttempts(1)
        }
    }

    @Test(arguments: never)
    func neverPassesThePreferenceOn(policy: Policy.AsyncRule, route: Policy.AsyncRule?) async throws {
        try await withProxy(tickets: TestStore(), configuration: Self.configuration(policy, route, lane: nil)) { proxy in
            let client = try await proxy.client(sending: .submission("/", "Prefer: respond-async, wait=0"))
            let attempt = try await proxy.nextAttempt()
            #expect(attempt.values("Prefer") == ["respond-async, wait=0"])
            attempt.fail()
            _ = try await proxy.entry()
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0, "it waits as without the field")
            try await proxy.advance(by: .seconds(60))
            try await proxy.nextAttempt("the retry").respondOnceSent(202, ["Location: /there", "Content-Length: 2"], body: "ok")
            let response = try await client.answer()
            #expect(response.body == "ok")
            #expect(response["Location"] == "/there" && response["Preference-Applied"] == nil)
            try await proxy.expectAttempts(2)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    // MARK: Keys

    @Test func newKeyIsReservedDuringTheFirstAttempt() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let request = String.submission("/", Self.async, "Idempotency-Key: k")
            let first = try await proxy.client(sending: request)
            let attempt = try await proxy.nextSentAttempt()
            let second = try await proxy.client(sending: request)
            try await proxy.waitForRequests(2)
            try await proxy.settle()
            try await proxy.expectAttempts(1)
            attempt.respond(202, ["Content-Location: /status", "Content-Length: 0"])
            for client in [first, second] { #expect(try await client.answer()["Content-Location"] == "/status") }
            try await proxy.expectAttempts(1)
        }
    }
}
