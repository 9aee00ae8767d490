import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverProxy

/// Responses through the base URL of a route, wherever they come from.
struct BaseURLResponseTests {
    private static let fields = [
        "Location: https://up.test/api/next", "Content-Location: /api/here", "Link: <?page=2>; rel=next",
        "Set-Cookie: a=1; Domain=up.test; Path=/; Secure", "Content-Length: 23",
    ]
    private static let body = "https://up.test/api/body"

    private static func routes(_ configuration: inout ProxyConfiguration) {
        var shop = Route(name: "shop", policy: .standard)
        shop.host = .exact("shop.test")
        shop.upstream = .init(origin: Origin(scheme: .https, host: "up.test"), basePath: "/api")
        shop.key = "k3y"
        configuration.routes = RouteTable(routes: [shop])
    }

    private static func expect(_ response: Answer, _ place: String) {
        #expect(response["Location"] == "http://localhost\(place)/next")
        #expect(response["Content-Location"] == "\(place)/here")
        #expect(response["Link"] == "<\(place)/a/b?page=2>; rel=next")
        #expect(response["Set-Cookie"] == "a=1; Path=\(place)")
        #expect(response.body == String(body.prefix(23)), "bodies are never touched")
    }

    private static func expectUnchanged(_ response: Answer) {
        for field in fields {
            let (name, value) = (field.prefix { $0 != ":" }, field.drop { $0 != ":" }.dropFirst(2))
            #expect(response[String(name)] == String(value))
        }
    }

    private static let answers: @Sendable (ScriptedAttempt) -> Void = { $0.respondOnceSent(201, Self.fields, body: String(Self.body.prefix(23))) }

    @Test func redirectionStaysInsideTheRoute() async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            let keyed = try await proxy.answer(to: .own("GET", "/.layover/route/shop/~k3y/a/b"))
            Self.expect(keyed, "/.layover/route/shop/~k3y")
            let plain = try await proxy.answer(to: .own("GET", "/.layover/route/shop/a/b", ["Layover-Key: k3y"]))
            Self.expect(plain, "/.layover/route/shop")
        }
    }

    @Test func publicURLHasAPathAndASchemeOfItsOwn() async throws {
        func configuration(_ configuration: inout ProxyConfiguration) {
            Self.routes(&configuration)
            configuration.publicBase = "https://gate.test/way"
        }
        try await withProxy(script: Self.answers, configuration: configuration) { proxy in
            let response = try await proxy.answer(to: .own("GET", "/.layover/route/shop/~k3y/a/b"))
            #expect(response["Location"] == "https://gate.test/way/.layover/route/shop/~k3y/next")
            #expect(response["Set-Cookie"] == "a=1; Secure; Path=/way/.layover/route/shop/~k3y")
        }
    }

    @Test(arguments: ["GET http://shop.test/a/b HTTP/1.1\r\nHost: shop.test", "GET /a/b HTTP/1.1\r\nHost: shop.test"])
    func otherRequestsGetTheFieldsAsTheyCame(head: String) async throws {
        try await withProxy(script: Self.answers, configuration: Self.routes) { proxy in
            Self.expectUnchanged(try await proxy.answer(to: head + "\r\nLayover-Key: k3y\r\n\r\n"))
        }
    }

    @Test func interimResponsesHaveTheRoutesAddresses() async throws {
        try await withAttempt(of: .own("GET", "/.layover/route/shop/~k3y/a/b"), configuration: Self.routes) { _, client, attempt in
            attempt.deliver([attempt.head(103, ["Link: </api/style.css>; rel=preload"])])
            let interim = try await client.answer().expectStatus(103)
            #expect(interim["Link"] == "</.layover/route/shop/~k3y/style.css>; rel=preload")
            attempt.respondOnceSent(200, ["Content-Length: 0"], body: "")
            #expect(try await client.answer().status == 200)
        }
    }

    /// The response is read at another address, and by the key that its client used. That of another ticket is as it came.
    @Test(arguments: [
        ("/.layover/route/shop/~k3y/a/b", "", "/.layover/route/shop/~k3y"),
        ("/.layover/route/shop/a/b", "Layover-Key: k3y\r\n", "/.layover/route/shop"),
        ("http://shop.test/a/b", "Layover-Key: k3y\r\n", nil),
    ] as [(String, String, String?)])
    func responseOfATicketHasTheRoutesAddresses(url: String, field: String, place: String?) async throws {
        try await withProxy(script: Self.answers, tickets: TestStore(), configuration: Self.routes) { proxy in
            let host = place == nil ? "shop.test" : "localhost"
            let accepted = try await proxy.answer(
                to: "POST \(url) HTTP/1.1\r\nHost: \(host)\r\n\(field)Prefer: respond-async, wait=0\r\nContent-Length: 0\r\n\r\n")
            let id = try #require(accepted.ticket)
            _ = try await proxy.until(id, is: .delivered)
            let response = try await proxy.response(id).expectStatus(201)
            if let place { Self.expect(response, place) } else { Self.expectUnchanged(response) }
            #expect(String(buffer: try #require(try await proxy.tickets?.store.response(of: id)).fields).contains(Self.fields[0]))
        }
    }
}
