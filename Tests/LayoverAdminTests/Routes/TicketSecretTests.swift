import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverAdmin

/// The id of a ticket is the key to its response. Callers without the token see entries by other ids.
struct TicketSecretTests {
    private static let token = ["Authorization": "Bearer b0d1e5"]
    private static let key: UInt64 = 0xA5A5_5A5A_0F0F_F0F0

    /// Ids with every bit of a key turned over.
    private static let naming = EntryNaming(shown: turned, meant: turned)

    @Sendable private static func turned(_ id: EntryID) -> EntryID { EntryID(high: id.high ^ key, low: id.low ^ key) }

    /// As `path:2` makes it of a target that names a ticket.
    private static func lane(of ticket: some CustomStringConvertible) -> String {
        "http://shop.example/todos/~ticket.\(ticket).json.id~"
    }

    private let harness = Self.harness()

    private static func harness(store: MemoryStore = MemoryStore(on: MemoryDisk()), token: String? = nil) -> AdminHarness {
        var options = AdminOptions()
        options.token = token.map { Secret($0) }
        options.bodyToken = token == nil ? "b0d1e5" : nil
        let spool = BodySpool(folder: NSTemporaryDirectory(), byteCountMax: 1 << 20, threads: .singleton)
        return AdminHarness(options: options, store: store, naming: Self.naming, sources: { $0.spool = spool })
    }

    @Test func noOpenRouteShowsTicketIDs() async throws {
        let parent = try await harness.accept(0x51, lane: "one")
        let child = try await harness.accept(0x52, lane: Self.lane(of: parent), parents: [parent])
        let reader = harness.park(
            0x53, url: "http://shop.example/~ticket.\(parent).location~/x?a=~ticket.\(child).json.a~",
            failure: Failure(
                phase: .resolving, kind: .proxyInternalError, evidence: .neverSent,
                message: "The body file \(child).request is incomplete.")).id
        let shown = [parent, child, reader].map { Self.turned($0).description }
        var paths = ["", "?sort=id&limit=1", "?sort=-url&limit=1", "?sort=lane&limit=2", "?q=shop"].map { "/v1/pending" + $0 }
        paths += shown.flatMap { ["/v1/pending/\($0)", "/v1/pending/\($0)/explain"] }
        paths += ["/v1/incidents", "/v1/status", "/metrics", "/openapi.yaml"]
        var texts: [String] = []
        for path in paths { texts.append(try await harness.send("GET", path).text) }
        texts.append(try await harness.send("GET", "/v1/pending", fields: ["Accept": "application/jsonl"]).text)
        texts.append(try await harness.post("/v1/pending/\(parent)/hold").text)
        let audit = try await harness.send("GET", "/v1/audit").text
        #expect(audit.contains(shown[0]))
        texts.append(audit)
        texts.append(try await harness.post("/v1/pending/\(shown[0])/cancel").text)
        texts.append(try await harness.send("GET", "/v1/pending/\(shown[1])/explain").text)
        for id in [parent, child, reader] {
            // A cursor holds what its list is sorted by, in hexadecimal.
            let spelled = id.description.utf8.map { String($0, radix: 16) }.joined()
            for text in texts { #expect(!text.contains(id.description) && !text.contains(spelled)) }
        }
        #expect(texts[0].contains("/~ticket.***.location~/x?a=~ticket.***.json.a~"))
        #expect(texts[0].contains("The body file ***.request is incomplete."))
        let list = try await harness.send("GET", "/v1/pending").data
        #expect(list.map { $0["id"] as? String ?? "" } == Array(shown.dropFirst()))
        #expect(list.map { $0["ticket"] as? String } == ["***", nil])
        #expect(list[0]["parents"] as? [String] == [shown[0]])
    }

    @Test func eventsDoNotShowTicketIDs() async throws {
        let first = try await harness.accept(1)
        let response = try await harness.respond("GET", "/v1/events")
        let (pieces, piece) = AsyncStream<String>.makeStream()
        let writing = Task { try await response.body.write(CollectingWriter(watcher: piece)) }
        let second = try await harness.accept(2, lane: Self.lane(of: first))
        var text = ""
        for await piece in pieces {
            text += piece
            if text.contains(Self.turned(second).description) { break }
        }
        writing.cancel()
        #expect(text.contains(Self.turned(first).description))
        for id in [first, second] { #expect(!text.contains(id.description)) }
    }

    @Test func searchMatchesShownTextOnly() async throws {
        let id = try await harness.accept(0xBEEF)
        _ = harness.park(2, url: "http://shop.example/~ticket.\(id).location~")
        #expect(try await harness.send("GET", "/v1/pending?q=beef").ids.isEmpty)
        let begin = Self.turned(id).description.prefix(8)
        #expect(try await harness.send("GET", "/v1/pending?q=\(begin)&host=shop.example").ids.count == 2)
        let end = Self.turned(id).description.suffix(8)
        #expect(try await harness.send("GET", "/v1/pending?q=\(end)").ids == [Self.turned(id).description])
    }

    /// Two tickets are two lanes, though they are shown by one name.
    @Test func laneIsShownAndFoundWithoutTheTicketInIt() async throws {
        let (one, other) = (try await harness.accept(0x61), try await harness.accept(0x62))
        let first = try await harness.accept(0x63, lane: Self.lane(of: one))
        let behind = try await harness.accept(0x64, lane: Self.lane(of: one))
        let alone = try await harness.accept(0x65, lane: Self.lane(of: other))
        let shown = [first, behind, alone].map { Self.turned($0).description }
        func found(_ lane: String) async throws -> [String] {
            let value = try #require(lane.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            return try await harness.send("GET", "/v1/pending?lane=\(value)").ids
        }
        #expect(try await found(Self.lane(of: "***")) == shown)
        #expect(try await found(Self.lane(of: one)).isEmpty)
        var waitingFor: [String?] = []
        for id in shown {
            let entry = try await harness.send("GET", "/v1/pending/\(id)").json
            #expect(entry["lane"] as? String == Self.lane(of: "***"))
            waitingFor.append(entry["waitingFor"] as? String)
        }
        #expect(waitingFor[1] == "lane" && waitingFor[2] == waitingFor[0] && waitingFor[2] != "lane")
        let now = try await harness.send("GET", "/v1/pending/\(shown[1])/explain").json["now"] as? [String: Any]
        #expect((now?["text"] as? String)?.contains("in lane \(Self.lane(of: "***")).") == true)
    }

    @Test func supersedingTicketIsShownByItsShownID() async throws {
        var policy = Policy.standard
        policy.coalesce = .lastPut
        let older = try await harness.accept(0x71, method: "PUT", policy: policy)
        let newer = try await harness.accept(0x72, method: "PUT", policy: policy)
        let entry = try await harness.send("GET", "/v1/pending/\(Self.turned(older))")
        #expect(entry.json["supersededBy"] as? String == Self.turned(newer).description)
        #expect(!entry.text.contains(newer.description))
    }

    @Test(arguments: [nil, "b0d1e5"])
    func tokenShowsTicketIDs(token: String?) async throws {
        let harness = Self.harness(token: token)
        let id = try await harness.accept(1)
        let entry = try await harness.send("GET", "/v1/pending", fields: Self.token).data.first
        #expect(entry?["ticket"] as? String == id.description)
        #expect(entry?["id"] as? String == Self.turned(id).description)
    }

    @Test func entryIsFoundByBothOfItsIDs() async throws {
        let (first, second) = (try await harness.accept(1), try await harness.accept(2))
        for id in [first, Self.turned(first)] {
            let entry = try await harness.send("GET", "/v1/pending/\(id)")
            #expect(entry.json["id"] as? String == Self.turned(first).description)
            #expect(try await harness.post("/v1/pending/\(id)/hold").status == (id == first ? 200 : 409))
        }
        let names = [first, Self.turned(second), AdminHarness.id(9)].map(\.description)
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        let many = try await harness.post("/v1/pending/cancel", "{\"ids\":[\(list)]}")
        let results = many.json["results"] as? [[String: Any]] ?? []
        #expect(results.map { $0["id"] as? String ?? "" } == names, "as they were given")
        #expect(results.map { $0["status"] as? Int } == [200, 200, 404])
        #expect(try await harness.send("GET", "/v1/pending/\(AdminHarness.id(9))").status == 404)
    }

    // MARK: Answers

    @Test func responseIsShownWithTheToken() async throws {
        let store = MemoryStore(on: MemoryDisk())
        var record = TicketRecord.fixture(1)
        _ = try await store.commit([.insert(record, .fixture(), nil)])
        record.revision = 2
        record.state = .delivered
        record.ticket.status = 201
        record.endedAt = record.createdAt
        let response = StoredResponse(
            status: 201, fields: ByteBuffer(string: "Content-Type: text/plain\r\nSet-Cookie: a=b\r\n"),
            body: .inline(ByteBuffer(string: "made")))
        _ = try await store.commit([.delivered(record, response)])
        let harness = Self.harness(store: store)
        let path = "/v1/pending/\(Self.turned(record.id))"
        #expect(try await harness.send("GET", path + "/response").status == 401)
        let shown = try await harness.send("GET", path + "/response", fields: Self.token).expectStatus(200)
        #expect(shown.text == "made")
        #expect(shown["Content-Type"] == "text/plain")
        #expect(shown["Content-Disposition"] == "attachment")
        #expect(shown["Layover-Status"] == "201")
        #expect(shown["Set-Cookie"] == nil)
        #expect((try await harness.send("GET", path).json["response"] as? [String: Int]) == ["status": 201])
        _ = try await store.commit([.dropResponse(record.id)])
        #expect(try await harness.send("GET", path + "/response", fields: Self.token).status == 410)
    }

    @Test func missingResponseIsAProblem() async throws {
        let waiting = Self.turned(try await harness.accept(1))
        #expect(try await harness.send("GET", "/v1/pending/\(waiting)/response", fields: Self.token).status == 409)
        _ = try await harness.post("/v1/pending/\(waiting)/cancel")
        #expect(try await harness.send("GET", "/v1/pending/\(waiting)/response", fields: Self.token).status == 410)
        let unknown = AdminHarness.id(9)
        #expect(try await harness.send("GET", "/v1/pending/\(unknown)/response", fields: Self.token).status == 404)
    }
}
