import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// The body of an entry, for somebody who only looks.
struct HeldBodyTests {
    @Test func bodyOfAHeldRequestCanBeRead() async throws {
        try await withParked(.submission("/", "X-Mine: 1")) { proxy, client, entry in
            let held = try #require(await proxy.engine.heldBody(entry.id))
            let body = try #require(held.body)
            #expect(await body.peek(at: 0, upTo: 100) == ByteBuffer(string: "abc"))
            #expect(held.fields.texts(of: "x-mine") == ["1"])
            let attempt = try await proxy.retry(entry.id)
            #expect(try await attempt.wholeBody() == "abc")
            attempt.respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
            #expect(await proxy.engine.heldBody(entry.id)?.body == nil)
        }
    }

    @Test func heldRequestWithoutABodyHasNoBodyToRead() async throws {
        try await withParked(.get("/")) { proxy, client, entry in
            let held = try #require(await proxy.engine.heldBody(entry.id))
            #expect(held.body == nil)
            client.close()
        }
    }
}
