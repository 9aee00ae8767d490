import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// The ticket as its client asks for it: state, waiting for it, and dropping it.
struct TicketResourceTests {
    @Test func aTicketIsShownInEachState() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let (id, attempt) = try await proxy.ticketUnderWay("/x")
            var response = try await proxy.ticket(id).expectStatus(200)
            #expect(response["Content-Type"] == "application/json")
            #expect(response.member("state") == "attempting")
            #expect(response.member("attempts") == "0" || response.member("attempts") == "1")
            #expect(response.member("response") == "null")
            #expect(response["Retry-After"] != nil)
            attempt.fail()
            response = try await proxy.until(id, is: .waiting)
            #expect(response.member("attempts") == "1")
            #expect(response.member("waitingFor") != "null")
            #expect(response.body.contains(#""kind":"connection_refused""#))
            #expect(response.member("createdAt")?.hasPrefix("1970-01-01T00:00:01") == true)
            #expect(response.member("expiresAt")?.hasPrefix("1970-01-02T") == true)
            _ = await proxy.engine.command(.hold, id)
            #expect(try await proxy.ticket(id).member("state") == "held")
            try await proxy.retry(id).answerWell(404, ["X-A: 1", "X-B: \"2\"", "Date: then"], body: "no")
            response = try await proxy.until(id, is: .delivered)
            #expect(response.body.contains(#""response":{"status":404,"fields":{"X-A":"1","X-B":"\"2\"","Date":"then"}}"#))
            #expect(response["Retry-After"] == nil)
            #expect(response.member("nextAttemptAt") == "null")
        }
    }

    @Test(arguments: [
        ("GET", "/.layover/tickets/00000000000000000000000000000000"), ("GET", "/.layover/tickets/00000000000000000000000000000000/response"),
        ("DELETE", "/.layover/tickets/00000000000000000000000000000000"), ("GET", "/.layover/tickets/"), ("GET", "/.layover/tickets/x"),
        ("GET", "/.layover/tickets/0000000000000000000000000000000"), ("GET", "/.layover/tickets/00000000000000000000000000000000/"),
        ("GET", "/.layover/tickets/00000000000000000000000000000000/response/"), ("GET", "/.layover/tickets/..%2f"),
        ("GET", "/.layover/tickets//00000000000000000000000000000000"), ("GET", "/.layover/tickets"),
    ])
    func anUnknownTicketIs404(method: String, path: String) async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let client = try await proxy.client(sending: .own(method, path) + .own(method, path, ["Prefer: wait=600"]) + .own("GET", "/"))
            for _ in 1...2 { #expect(try await client.answer().status == 404, "nobody waits for it") }
            #expect(try await client.answer().status == 200, "the connection lives on")
        }
    }

    @Test func theLocationOfATicketIsNeverRefused() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.allowedHosts = [] }) { (proxy: TestProxy) async throws in
            let response = try await proxy.answer(to: .post("/", length: 0, "Prefer: respond-async, wait=0"))
            let base = "http://127.0.0.1:\(proxy.port)"
            let location = try #require(response["Location"])
            #expect(location.hasPrefix(base + "/.layover/tickets/"))
            let path = String(location.dropFirst(base.count))
            for (host, status) in [
                ("127.0.0.1:\(proxy.port)", 200), ("127.0.0.1:\(proxy.port + 1)", 421), ("127.0.0.1", 421),
                ("127.0.0.2:\(proxy.port)", 421), ("localhost:\(proxy.port)", 421), ("rebound.test:\(proxy.port)", 421),
            ] {
                let response = try await proxy.answer(to: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(response.status == status, "\(host)")
            }
            let foreign = try await proxy.answer(
                to: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(proxy.port)\r\nOrigin: http://evil.test\r\n\r\n")
            #expect(foreign.status == 403)
        }
    }

    @Test func localAddressIsWrittenInItsOwnFamily() throws {
        let mapped = OwnAddress(try SocketAddress(ipAddress: "::ffff:192.0.2.2", port: 80))
        #expect(mapped == OwnAddress(ip: "192.0.2.2", port: 80))
        #expect(mapped?.authority == "192.0.2.2:80")
        #expect(OwnAddress(try SocketAddress(ipAddress: "2001:db8::1", port: 81))?.authority == "[2001:db8::1]:81")
        #expect(OwnAddress(try SocketAddress(unixDomainSocketPath: "/s")) == nil)
        #expect(OwnAddress(nil) == nil)
    }

    @Test func withoutAStoreThereAreNoTickets() async throws {
        try await withProxy { proxy async throws in
            #expect(try await proxy.answer(to: .own("GET", "/.layover/tickets/00000000000000000000000000000000")).status == 404)
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "OPTIONS"])
    func otherMethodsOnATicketAre405(method: String) async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let path = "/.layover/tickets/00000000000000000000000000000000"
            for request in [String.own(method, path), .own(method, path + "/response"), .own("DELETE", path + "/response")] {
                #expect(try await proxy.answer(to: request).status == 405)
            }
        }
    }

    @Test(arguments: [
        ("Host: evil.test", 421), ("Host: localhost\r\nOrigin: http://evil.test", 403), ("Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site", 403), ("Host: localhost\r\nSec-Fetch-Site: same-site", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-origin\r\nOrigin: http://localhost", 200),
    ])
    func webPageOfAnotherSiteCannotReadTickets(fields: String, status: Int) async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let (id, attempt) = try await proxy.ticketUnderWay()
            for (method, suffix) in [("GET", ""), ("GET", "/response"), ("DELETE", "")] {
                let response = try await proxy.answer(
                    to: "\(method) \(TicketAddress.path(of: id))\(suffix) HTTP/1.1\r\n\(fields)\r\n\r\n")
                if status == 200 {
                    #expect(response.status != 403 && response.status != 421)
                } else {
                    #expect(response.status == status)
                }
            }
            if status != 200 { #expect(!attempt.seen.value.isCancelled) }
        }
    }

    // MARK: Waiting

    @Test(arguments: ["delivered", "cancelled", "undecided"])
    func waitingClientIsAnsweredWhenTheTicketEnds(end: String) async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay()
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id), ["Prefer: wait=60"]))
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            switch end {
            case "delivered": try await attempt.answerWell(200, body: "x")
            case "cancelled": _ = await proxy.engine.command(.cancel, id)
            default:
                _ = await attempt.mark()
                attempt.fail(.connectionTerminated, phase: .awaitingResponse, evidence: .maybeApplied)
            }
            let response = try await client.answer().expectStatus(200)
            #expect(response.member("state") == end)
            if end == "delivered" { #expect(response.body.contains(#""response":{"status":200"#)) }
            try await client.send(.own("GET", "/"))
            #expect(try await client.answer().status == 200)
        }
    }

    @Test func clientThatWaitsForAnEndedTicketIsAnsweredAtOnce() async throws {
        try await withProxy(script: { $0.respondOnceSent(200) }, tickets: TestStore()) { proxy in
            let id = try await proxy.accept()
            _ = try await proxy.until(id, is: .delivered)
            #expect(try await proxy.ticket(id, "Prefer: wait=600").member("state") == "delivered")
            #expect(try await proxy.ticket(id, "Prefer: wait=99999999999999999999").member("state") == "delivered")
        }
    }

    @Test func waitingClientIsAnsweredWhenItsTimeEnds() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = try await proxy.accept()
            _ = try await proxy.nextAttempt()
            #expect(try await proxy.ticket(id, "Prefer: wait=1").expectStatus(200).member("state") == "attempting")
        }
    }

    @Test func clientsWaitForATicketAlthoughOneLeaves() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let (id, attempt) = try await proxy.ticketUnderWay()
            var clients: [RawClient] = []
            for _ in 0..<5 {
                clients.append(try await proxy.client(sending: .own("GET", TicketAddress.path(of: id), ["Prefer: wait=60"])))
            }
            try await proxy.settle()
            try await clients[0].reset()
            try await eventually("a connection to close") { proxy.openConnectionCount() <= 5 }
            try await attempt.answerWell()
            for client in clients.dropFirst() { #expect(try await client.answer().member("state") == "delivered") }
        }
    }

    @Test func halfClosedClientIsAnsweredAtOnce() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = try await proxy.accept()
            _ = try await proxy.nextAttempt()
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id), ["Prefer: wait=600"]))
            try await proxy.settle()
            try await client.closeOutput()
            #expect(try await client.answer().member("state") == "attempting")
            #expect(try await client.ending().0 == .closed)
        }
    }

    /// The turn of the question comes behind the end of the client's input.
    @Test func pipelinedQuestionOfAHalfClosedClientIsAnsweredAtOnce() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = try await proxy.accept()
            _ = try await proxy.nextAttempt()
            let client = try await proxy.client(
                sending: "GET http://a.example/first HTTP/1.1\r\nHost: a.example\r\n\r\n"
                    + .own("GET", TicketAddress.path(of: id), ["Prefer: wait=600"]))
            let first = try await proxy.nextAttempt()
            try await client.closeOutput()
            try await proxy.settle()
            try await first.answerWell(200, body: "first")
            #expect(try await client.answer().body == "first")
            #expect(try await client.answer().member("state") == "attempting")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func stoppingProxyAnswersClientsWaitingForATicket() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let id = try await proxy.waitingTicket()
            let count = proxy.loop.metrics.requestCount.current
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id), ["Prefer: wait=600"]))
            // A stop closes a connection without a request.
            try await proxy.waitForRequests(count + 1)
            try await proxy.settle()
            await proxy.engine.drain()
            async let drained: Void = proxy.server.drain(within: .seconds(60))
            let response = try await client.answer()
            #expect(response.member("state") == "waiting")
            #expect(response["Connection"] == "close")
            await drained
        }
    }

    /// Nobody is told of an end that is not on disk.
    @Test func endOfATicketIsNotShownBeforeItIsStored() async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id), ["Prefer: wait=60"]))
            try await proxy.settle()
            tickets.halt()
            attempt.respond(200, ["Content-Length: 1"], body: "x")
            _ = try await proxy.entry(.delivered)
            try await proxy.settle()
            #expect(client.received.value.totalCount == 0)
            let impatient = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id) + "/response"))
            try await proxy.settle()
            #expect(impatient.received.value.totalCount == 0)
            tickets.goOn()
            #expect(try await client.answer().member("state") == "delivered")
            #expect(try await impatient.answer().body == "x", "it is never told that there is no answer")
        }
    }

    @Test func pipelinedTicketRequestsAreAnsweredInOrder() async throws {
        try await withProxy(tickets: TestStore()) { (proxy: TestProxy) async throws in
            let one = try await proxy.accept("/1")
            try await proxy.answerNext(of: one, 200, body: "one")
            let two = try await proxy.accept("/2")
            let attempt = try await proxy.nextAttempt()
            let client = try await proxy.client(
                sending: .own("GET", TicketAddress.path(of: two), ["Prefer: wait=60"])
                    + .own("GET", TicketAddress.path(of: one) + "/response") + .own("HEAD", TicketAddress.path(of: one))
                    + .own("DELETE", TicketAddress.path(of: one)) + .own("GET", TicketAddress.path(of: one) + "/response"))
            try await proxy.settle()
            try await attempt.answerWell(200, body: "two")
            #expect(try await client.answer().member("id") == "\(two)")
            #expect(try await client.answer().body == "one")
            #expect(try await client.answer(toHead: true).status == 200)
            #expect(try await client.answer().status == 204)
            #expect(try await client.answer().status == 410)
        }
    }

    // MARK: Dropping

    @Test func droppingAWaitingTicketCancelsIt() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let id = try await proxy.waitingTicket("/", body: String(repeating: "x", count: 500))
            #expect(try await proxy.drop(id).status == 204)
            #expect(try await tickets.record(of: id)?.state == .cancelled, "it is on disk before anybody is told")
            try await proxy.response(id).expectProblem(410, "cancelled")
            try await eventually("an empty folder") { tickets.files.isEmpty }
            #expect(try await proxy.drop(id).status == 204, "twice is once")
            try await proxy.advance(by: .seconds(1000))
            try await proxy.expectAttempts(1)
        }
    }

    @Test func droppingATicketUnderWayCancelsItsAttempt() async throws {
        try await withTickets { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.beginSending()
            #expect(try await proxy.drop(id).status == 204)
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled && $0.isOver }
            #expect(try await proxy.ticket(id).member("state") == "cancelled")
            #expect(try await tickets.record(of: id)?.state == .cancelled)
        }
    }

    @Test func droppingADeliveredTicketRemovesItsResponseFile() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let id = try await proxy.accept("/", body: "abc")
            try await proxy.answerNext(of: id, 200, body: String(repeating: "y", count: 300))
            #expect(tickets.files == ["\(id).answer"])
            #expect(try await proxy.drop(id).status == 204)
            try await eventually("an empty folder") { tickets.files.isEmpty }
            #expect(try await proxy.response(id).status == 410)
            let document = try await proxy.ticket(id)
            #expect(document.member("state") == "delivered")
            #expect(document.member("response") == "null")
        }
    }

    @Test func deletionThatIsNotOnDiskIsNotConfirmed() async throws {
        try await withTickets { proxy, tickets in
            let id = try await proxy.waitingTicket()
            tickets.setFull(true)
            for _ in 0..<2 {
                try await proxy.drop(id).expectProblem(507, "store")
            }
            tickets.setFull(false)
            var response = try await proxy.drop(id)
            // Asked for again until the disk has room: then it is on disk, and not before.
            while response.status != 204 { response = try await proxy.drop(id) }
            #expect(try await tickets.record(of: id)?.state == .cancelled)
            try await proxy.expectAttempts(1)
        }
    }
}
