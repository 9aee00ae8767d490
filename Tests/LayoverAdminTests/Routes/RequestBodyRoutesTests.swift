import Foundation
import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverAdmin

struct RequestBodyRoutesTests {
    private static let shown = ["Authorization": "Bearer b0d1e5"]

    private static let options = AdminOptions.with { $0.bodyToken = "b0d1e5" }

    /// Runs a test with a store, and a spool in a folder of its own.
    private func with(
        options: AdminOptions = Self.options, limits: PendingLimits = PendingLimits(),
        _ test: (AdminHarness, _ folder: String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let path = folder.url.path
        let spool = BodySpool(folder: path, byteCountMax: 1 << 30, threads: threads)
        let harness = AdminHarness(
            options: options, limits: limits, store: MemoryStore(on: MemoryDisk()), sources: { $0.spool = spool }
        )
        try await test(harness, path)
        try await threads.shutdownGracefully()
        withExtendedLifetime(folder) {}
    }

    private func file(_ text: String, of number: UInt64, in folder: String) throws -> StoredBody {
        let name = "\(AdminHarness.id(number)).request"
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        return .file(name: name, byteCount: text.utf8.count)
    }

    @Test func smallBodyIsShownWithItsType() async throws {
        try await with { harness, _ in
            let id = try await harness.accept(
                1, fields: ["X-Empty": "", "Content-Type": "application/json", "content-encoding": "gzip"],
                body: .inline(ByteBuffer(string: "{\"a\":1}")))
            let response = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).expectStatus(200)
            #expect(response.text == "{\"a\":1}")
            #expect(response["Content-Type"] == "application/json")
            #expect(response["Content-Encoding"] == "gzip")
            #expect(response["Content-Length"] == "7")
            #expect(response["Content-Disposition"] == "attachment")
            expectSafetyFields(response)
            #expect(
                try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).text
                    == "{\"a\":1}", "it can be read twice")
        }
    }

    @Test func bodyInAFileIsShownWhole() async throws {
        try await with { harness, folder in
            let text = String((0..<1_000_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
            let id = try await harness.accept(1, body: try file(text, of: 1, in: folder))
            let response = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).expectStatus(200)
            #expect(response.text == text)
            #expect(response["Content-Type"] == "application/octet-stream")
        }
    }

    @Test func requestWithoutABodyHasNoContent() async throws {
        try await with { harness, _ in
            let none = try await harness.accept(1)
            #expect(
                try await harness.send("GET", "/v1/pending/\(none)/request-body", fields: Self.shown).status == 204)
            let empty = try await harness.accept(2, body: .inline(ByteBuffer()))
            let response = try await harness.send("GET", "/v1/pending/\(empty)/request-body", fields: Self.shown).expectStatus(200)
            #expect(response.text.isEmpty)
        }
    }

    @Test(arguments: [nil, "Bearer wrong", "Basic b0d1e5", "b0d1e5"])
    func bodyIsMaskedWithoutItsToken(authorization: String?) async throws {
        try await with { harness, _ in
            let id = try await harness.accept(1, body: .inline(ByteBuffer(string: "secret")))
            let fields = authorization.map { ["Authorization": $0] } ?? [:]
            let response = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: fields).expectStatus(401)
            #expect(response["WWW-Authenticate"] != nil)
            #expect(!response.text.contains("secret"))
            #expect(
                try await harness.send("GET", "/v1/pending/\(id)", fields: fields).status == 200,
                "the rest needs none")
        }
    }

    @Test func onlyTheAdminTokenShowsBodiesIfItIsSet() async throws {
        var options = Self.options
        options.token = "all"
        try await with(options: options) { harness, _ in
            let id = try await harness.accept(1, body: .inline(ByteBuffer(string: "secret")))
            let path = "/v1/pending/\(id)/request-body"
            #expect(try await harness.send("GET", path, fields: Self.shown).status == 401)
            #expect(try await harness.send("GET", path, fields: ["Authorization": "Bearer all"]).text == "secret")
        }
    }

    // MARK: Held requests

    private func held(in folder: String, mayBeSentTwice: Bool = true) -> CapturedBody {
        var limits = CapturedBody.Limits()
        limits.inMemoryMax = 1000
        return CapturedBody(
            length: nil, mayBeSentTwice: mayBeSentTwice, limits: limits,
            spool: BodySpool(folder: folder, byteCountMax: 1 << 30, threads: .singleton), clientResumed: {})
    }

    /// *Copy as curl* on the dashboard shows the same.
    @Test func secretsInTheFieldsOfARequestAreMasked() async throws {
        try await with { harness, _ in
            let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodXNoIn0.aHVzaA"
            let fields: RequestFields = [
                "Referer": "https://a.example/p?token=hush&page=2", "X-Goog-Iap-Jwt-Assertion": "hush", "X-Data": token, "Accept": "*/*",
                "Origin": "http://l/.layover/route/typo/~hush", "Authorization": "Basic aHVzaA==", "X-Session-Id": "hush",
            ]
            let url = "http://shop.example/cart?client_assertion=\(token)&jws=\(token)&key=hush"
            let id = harness.park(1, url: url, body: HeldBody(body: nil, fields: fields)).id
            let response = try await harness.send("GET", "/v1/pending/\(id)/request")
            let shown = try #require(response.json["fields"] as? [[String: String]])
            #expect(shown.map { $0["name"] ?? "" } == fields.map(\.name))
            let values = ["https://a.example/p?token=***&page=2", "***", "***", "*/*", "http://l/.layover/route/typo/~***", "***", "***"]
            #expect(shown.map { $0["value"] ?? "" } == values)
            #expect(response.status == 200 && response.json["method"] as? String == "GET")
            #expect(response.json["url"] as? String == "http://shop.example/cart?client_assertion=***&jws=***&key=***")
            #expect(!response.text.contains("hush") && !response.text.contains("eyJ") && !response.text.contains("aHVzaA"))
            #expect(try await harness.send("GET", "/v1/pending/\(AdminHarness.id(9))/request").status == 404)
        }
    }

    @Test func bodyOfAHeldRequestIsShownAsFarAsItHasArrived() async throws {
        try await with { harness, folder in
            let body = held(in: folder)
            let fields: RequestFields = ["Content-Type": "text/plain", "Authorization": "Bearer x"]
            let id = harness.park(1, method: "POST", body: HeldBody(body: body, fields: fields)).id
            let path = "/v1/pending/\(id)/request-body"
            #expect(try await harness.send("GET", path, fields: Self.shown).text == "")
            _ = body.append(ByteBuffer(string: "one "))
            let response = try await harness.send("GET", path, fields: Self.shown).expectStatus(200)
            #expect(response.text == "one ")
            #expect(response["Content-Type"] == "text/plain")
            #expect(response["Content-Length"] == "4")
            #expect(response["Authorization"] == nil)
            expectSafetyFields(response)
            let rest = String(repeating: "two ", count: 50_000)
            _ = body.append(ByteBuffer(string: rest))
            body.finish()
            #expect(try await harness.send("GET", path, fields: Self.shown).text == "one " + rest)
            let masked = try await harness.send("GET", path).expectStatus(401)
            #expect(!masked.text.contains("one"))
        }
    }

    @Test func heldRequestWithoutABodyHasNoContent() async throws {
        try await with { harness, _ async throws in
            let id = harness.park(1, body: HeldBody(body: nil, fields: [:])).id
            #expect(try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).status == 204)
        }
    }

    @Test func bodyThatIsOnlyPassedOnIsNotKept() async throws {
        try await with { harness, folder in
            let body = held(in: folder, mayBeSentTwice: false)
            _ = body.append(ByteBuffer(string: "once"))
            let reader = body.makeReader {}
            withUnsafeTemporaryAllocation(byteCount: 2, alignment: 1) { #expect(reader.read(into: $0) == .bytes(2)) }
            let id = harness.park(1, body: HeldBody(body: body, fields: [:])).id
            let response = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).expectStatus(410)
            #expect(response.json["type"] as? String == "urn:layover:problem:body_not_kept")
        }
    }

    @Test func bodyWithoutAnExchangeIsOnItsWay() async throws {
        try await with { harness, _ in
            let id = harness.park(1).id
            let response = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).expectStatus(409)
            #expect(response.json["type"] as? String == "urn:layover:problem:body_on_its_way")
        }
    }

    // MARK: What is not there

    @Test func bodyIsGoneWithItsTicketAndUnknownWithoutOne() async throws {
        try await with { harness, _ in
            let id = try await harness.accept(1, body: .inline(ByteBuffer(string: "x")))
            _ = try await harness.post("/v1/pending/\(id)/cancel")
            let gone = try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).expectStatus(410)
            #expect(gone.json["type"] as? String == "urn:layover:problem:body_gone")
            let unknown = "/v1/pending/\(AdminHarness.id(99))/request-body"
            #expect(try await harness.send("GET", unknown, fields: Self.shown).status == 404)
        }
    }

    @Test func missingFileIsAProblem() async throws {
        try await with { harness, folder in
            let body = try file("text", of: 1, in: folder)
            let id = try await harness.accept(1, body: body)
            try FileManager.default.removeItem(atPath: folder + "/\(id).request")
            #expect(
                try await harness.send("GET", "/v1/pending/\(id)/request-body", fields: Self.shown).status == 410)
        }
    }

    @Test func cutOffFileBreaksTheResponse() async throws {
        try await with { harness, folder in
            let text = String(repeating: "x", count: 1 << 20)
            let id = try await harness.accept(1, body: try file(text, of: 1, in: folder))
            #expect(truncate(folder + "/\(id).request", 1 << 19) == 0)
            let response = try await harness.respond("GET", "/v1/pending/\(id)/request-body", fields: Self.shown)
            #expect(response.status.code == 200)
            let writer = CollectingWriter()
            await #expect(throws: BodyPortions.BrokenOff.self) { try await response.body.write(writer) }
            #expect(writer.text.utf8.count < text.utf8.count)
        }
    }
}
