import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that reach the proxy by another address than it knows.
    @Suite struct PublicURLOfTickets {
        @Test(arguments: [
            ("https://proxy.example/", "https://proxy.example", "proxy.example"),
            ("HTTP://Proxy.Example:8443/layover/", "http://proxy.example:8443/layover", "proxy.example:8443"),
        ])
        func ticketIsFoundUnderThePublicURL(url: String, base: String, host: String) async throws {
            let scene = try await DurableScene(environment: ["LAYOVER_PROXY_PUBLIC_URL": url])
            let response = try await scene.send("1", "Prefer: respond-async, wait=0")
            let ticket = try #require(response.ticket, "\(response.text)")
            #expect(response.field("Location") == "\(base)/.layover/tickets/\(ticket)")
            let found = try await scene.layover.exchange(
                "GET /.layover/tickets/\(ticket) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(found.status == 200, "\(found.text)")
            let foreign = try await scene.layover.exchange(
                "GET /.layover/tickets/\(ticket) HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n")
            #expect(foreign.status == 421)
            let shown = try await scene.layover.call("GET", "/v1/config")
            #expect(shown.text.contains(base), "\(shown.text)")
        }
    }
}
