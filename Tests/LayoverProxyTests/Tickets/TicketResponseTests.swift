import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// The origin's response to a ticket, from the worker to the store, and from there to whoever asks for it.
struct TicketAnswerTests {
    private static func text(_ count: Int) -> String {
        let bytes = (0..<count).map { (index: Int) -> UInt8 in
            let letter = (index * 7 + index / 256) % 26
            return UInt8(97 + letter)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A ticket whose response is kept.
    private static func delivered(_ body: String, _ proxy: TestProxy) async throws -> EntryID {
        let id = try await proxy.accept()
        try await proxy.answerNext(of: id, 200, body: body)
        return id
    }

    /// A client that has asked for the response and takes nothing of it yet.
    private static func reader(of id: EntryID, _ proxy: TestProxy) async throws -> RawClient {
        let client = try await proxy.connect(readsByItself: false, receiveBuffer: 4096)
        try await client.send(.own("GET", TicketAddress.path(of: id) + "/response"))
        return client
    }

    @Test func responseOfAPendingTicketIs409() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let id = try await proxy.waitingTicket()
            let response = try await proxy.response(id).expectProblem(409, "pending")
            #expect(response["Retry-After"].flatMap { Int($0) } ?? 0 >= 1)
            #expect(response.member("evidence") == "neverSent")
            #expect(response.member("attempts") == "1")
        }
    }

    @Test(arguments: [0, 1, 100, 101, 65_536, 300_000, 3_000_000])
    func storedResponsesOfAnySizeAreUnchanged(count: Int) async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 100 }) { proxy, tickets in
            let body = Self.text(count)
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.sendHead(201, ["Content-Length: \(count)", "ETag: \"x\"", "Set-Cookie: a=1", "Set-Cookie: b=2", "Location: /new"])
            for start in stride(from: 0, to: count, by: 40_000) {
                attempt.sendBody(String(body.dropFirst(start).prefix(40_000)))
            }
            attempt.finish()
            _ = try await proxy.until(id, is: .delivered)
            #expect(tickets.files == (count > 100 ? ["\(id).answer"] : []))
            for _ in 0..<2 {
                let response = try await proxy.response(id).expectStatus(201)
                #expect(response.body == body)
                #expect(response["Content-Length"] == "\(count)")
                #expect(response.values("Set-Cookie") == ["a=1", "b=2"])
                #expect(response["Location"] == "/new")
                #expect(response["ETag"] == "\"x\"")
            }
            let head = try await proxy.response(id, method: "HEAD")
            #expect(head["Content-Length"] == "\(count)")
        }
    }

    @Test func storedChunkedResponseHasALength() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.respond(200, ["Transfer-Encoding: chunked"], body: "hello", trailers: ["X-T: 1"])
            _ = try await proxy.until(id, is: .delivered)
            let response = try await proxy.response(id)
            #expect(response.end == .length)
            #expect(response.body == "hello")
            #expect(response["Transfer-Encoding"] == nil)
        }
    }

    @Test(arguments: [(204, [String]()), (304, ["ETag: \"a\"", "Content-Length: 100"])])
    func storedResponseWithoutABodyHasNoFraming(status: Int, fields: [String]) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.respond(status, fields)
            _ = try await proxy.until(id, is: .delivered)
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id) + "/response") + .own("GET", "/"))
            let response = try await client.answer().expectStatus(status)
            #expect(response["Content-Length"] == nil)
            #expect(try await client.answer().status == 200, "nothing of it is taken for the next answer")
        }
    }

    @Test func storedResponseToHeadHasNoBody() async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let client = try await proxy.client(sending: "HEAD http://o.test/ HTTP/1.1\r\nHost: o\r\nPrefer: respond-async, wait=0\r\n\r\n")
            let id = try #require(try await client.answer(toHead: true).ticket)
            let attempt = try await proxy.nextAttempt()
            #expect(await attempt.mark())
            attempt.respond(200, ["Content-Length: 100"], body: "")
            _ = try await proxy.until(id, is: .delivered)
            let response = try await proxy.response(id).expectStatus(200)
            #expect(response.body == "")
        }
    }

    @Test func connectionContinuesAfterAStoredResponse() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.inMemoryMax = 100 }) { proxy in
            let body = Self.text(200_000)
            let id = try await Self.delivered(body, proxy)
            let path = TicketAddress.path(of: id) + "/response"
            let client = try await proxy.client(sending: .own("GET", path) + .own("HEAD", path) + .own("GET", path) + .own("GET", "/"))
            #expect(try await client.answer(after: 200_000).body == body)
            #expect(try await client.answer(toHead: true)["Content-Length"] == "200000")
            #expect(try await client.answer(after: 400_000).body == body)
            #expect(try await client.answer().status == 200)
            try await client.send(.own("GET", path, ["Connection: close"]))
            #expect(try await client.answer(after: 600_000)["Connection"] == "close")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func slowReaderOfAStoredResponseUsesLittleMemory() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.inMemoryMax = 100 }) { proxy in
            let body = Self.text(6_000_000)
            let id = try await Self.delivered(body, proxy)
            let client = try await Self.reader(of: id, proxy)
            let loop = proxy.loop
            var waiting = 0
            while waiting == 0 {
                try await proxy.settle()
                waiting = try await loop.eventLoop.submit { loop.connections.untakenByteCount }.get()
            }
            try await proxy.settle()
            waiting = try await loop.eventLoop.submit { loop.connections.untakenByteCount }.get()
            #expect(waiting < 400_000, "it reads no further than the client takes")
            try await client.startReading()
            let response = try await client.answer(after: 6_000_000)
            #expect(response.body == body)
        }
    }

    @Test func readerThatLeavesDoesNotAffectOthers() async throws {
        try await withProxy(tickets: TestStore(), configuration: { $0.body.inMemoryMax = 100 }) { proxy in
            let body = Self.text(3_000_000)
            let id = try await Self.delivered(body, proxy)
            let client = try await Self.reader(of: id, proxy)
            try await proxy.settle()
            try await client.reset()
            #expect(try await proxy.response(id).body == body)
        }
    }

    /// A response that is dropped while a client reads it is read to its end.
    @Test func responseDroppedWhileBeingReadIsReadToItsEnd() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 100 }) { proxy, tickets in
            let body = Self.text(6_000_000)
            let id = try await Self.delivered(body, proxy)
            let client = try await Self.reader(of: id, proxy)
            let loop = proxy.loop
            while try await loop.eventLoop.submit({ loop.connections.untakenByteCount }).get() == 0 { try await proxy.settle() }
            #expect(try await proxy.drop(id).status == 204)
            try await eventually("an empty folder") { tickets.files.isEmpty }
            try await client.startReading()
            #expect(try await client.answer(after: 6_000_000).body == body)
        }
    }

    @Test func lostResponseFileIsNotServedAsAShortResponse() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let id = try await Self.delivered(Self.text(5000), proxy)
            tickets.lose("\(id).answer")
            let client = try await proxy.client(sending: .own("GET", TicketAddress.path(of: id) + "/response"))
            let (_, rest) = try await client.ending()
            #expect(!rest.hasSuffix("\r\n\r\n") || rest.contains("Content-Length: 5000"))
        }
    }

    // MARK: On the way to the store

    /// The origin would send for as long as it is read. The first one announces a length that there can never be room for.
    @Test(arguments: ["Content-Length: 600000", "X-A: 1"])
    func attemptEndsOnceItsBodyCannotBeKept(field: String) async throws {
        try await withTickets(TestStore(spoolTotal: 5000), configuration: { $0.body.inMemoryMax = 10 }) { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            attempt.sendHead(200, [field])
            if field != "Content-Length: 600000" { attempt.sendBody(Self.text(60_000)) }
            try await attempt.seen.wait("the end of the attempt") { $0.isCancelled }
            let document = try await proxy.until(id, is: .delivered)
            #expect(document.body.contains(#""status":200"#))
            try await proxy.response(id).expectProblem(507, "answer_not_kept")
            try await proxy.becomesEmpty(tickets)
        }
    }

    @Test func brokenResponseOfAnUnrepeatableTicketIsKeptWithoutItsBody() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 2 }) { proxy, tickets in
            let (id, attempt) = try await proxy.ticketUnderWay(isMarked: true)
            _ = try await attempt.wholeBody()
            attempt.sendHead(201, ["Content-Length: 10"])
            attempt.sendBody("abcdef")
            attempt.fail(.connectionTerminated, phase: .receiving, evidence: .answered)
            let document = try await proxy.until(id, is: .delivered)
            #expect(document.body.contains(#""status":201"#))
            #expect(document.body.contains(#""lastFailure":{"kind":"connection_terminated","phase":"receiving""#))
            let response = try await proxy.response(id).expectProblem(502, "answer_broke_off")
            #expect(response.member("phase") == "receiving")
            let attempts = await proxy.engine.entry(id)?.attempts.records ?? []
            #expect(attempts.map(\.brokeOff) == [true], "explain says so")
            #expect(try await tickets.record(of: id)?.responseBrokeOff == true, "and so does the disk")
            try await eventually("an empty folder") { tickets.files.isEmpty }
            try await proxy.expectAttempts(1)
        }
    }

    @Test func responseOfACancelledTicketLeavesNoFile() async throws {
        try await withTickets(configuration: { $0.body.inMemoryMax = 2 }) { proxy, tickets in
            for round in 0..<20 {
                let (id, attempt) = try await proxy.ticketUnderWay("/\(round)", isMarked: true)
                try await attempt.outliveCancel()
                attempt.sendHead(200, ["Content-Length: 6"])
                attempt.sendBody("abcdef")
                attempt.finish()
                // The two race; whoever is first, nothing is left behind.
                _ = await proxy.engine.command(.cancel, id)
                try await eventually("the end of the ticket") { await proxy.engine.entry(id)?.state.isFinal != false }
                _ = try await proxy.drop(id)
            }
            try await proxy.settle()
            try await eventually("an empty folder") { tickets.files.isEmpty }
        }
    }
}
