import LayoverCore
import LayoverEngine
import LayoverTLS
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Runs a proxy for one test, whose client has sent one request, and whose attempt has started.
func withAttempt(
    of request: String = .get("/"), limits: PendingLimits = .init(), ticks: Bool = true, tickets: TestStore? = nil,
    configuration change: (inout ProxyConfiguration) -> Void = { _ in },
    _ test: (TestProxy, RawClient, ScriptedAttempt) async throws -> Void
) async throws {
    try await withProxy(limits: limits, ticks: ticks, tickets: tickets, configuration: change) { proxy in
        let client = try await proxy.client(sending: request)
        try await test(proxy, client, proxy.nextAttempt())
    }
}

/// Runs a proxy for one test, whose client waits: the first attempt of its request has failed before anything was sent.
func withParked(
    _ request: String = .get("/"), tickets: TestStore? = nil, configuration change: (inout ProxyConfiguration) -> Void = { _ in },
    _ test: (TestProxy, RawClient, Entry) async throws -> Void
) async throws {
    try await withProxy(tickets: tickets, configuration: change) { proxy in
        let client = try await proxy.client(sending: request)
        try await test(proxy, client, proxy.parkNext())
    }
}

/// Runs a proxy for one test, whose client has sent three bytes of six, `abc`. The attempt has taken them.
func withHalfSent(
    _ request: String = .post("/", length: 6, body: "abc"), ticks: Bool = true,
    configuration change: (inout ProxyConfiguration) -> Void = { _ in },
    _ test: (TestProxy, RawClient, ScriptedAttempt) async throws -> Void
) async throws {
    try await withAttempt(of: request, ticks: ticks, configuration: change) { proxy, client, attempt in
        attempt.readBody()
        try await attempt.seen.wait("the first bytes") { $0.sent.count == 3 }
        try await test(proxy, client, attempt)
    }
}

extension TestProxy {
    /// The attempt that begins because a person retries a request.
    func retry(_ id: EntryID, _ what: String = "the retry") async throws -> ScriptedAttempt {
        _ = await engine.command(.retry, id)
        return try await nextAttempt(what)
    }

    /// The attempt of a request that waits for its time, which is over then.
    func nextAttempt(after time: Duration, _ what: String = "the next attempt") async throws -> ScriptedAttempt {
        _ = try await entry()
        try await advance(by: time)
        return try await nextAttempt(what)
    }

    /// A reload that changes the routes. The engine and the loop have worked on it.
    func adopt(_ routes: RouteTable) async throws {
        try await reload { $0.routes = routes }
        try await settle()
    }
}

extension ScriptedAttempt {
    /// Gives the proxy a connection, as a worker that has dialled.
    ///
    /// - Returns: The other end of it.
    func dial(
        readsByItself: Bool = true, tls: (@Sendable (any EventLoop) -> TLSChannelHandler)? = nil
    ) async throws -> RawClient {
        let end = try FarEnd()
        let far = try await end.client(readsByItself: readsByItself, tls: tls)
        deliver([.dialled(end.dialled())])
        return far
    }
}

extension RawClient {
    /// All that has come, once it ends with the end of a head.
    func head() async throws -> String {
        try await received.take("a head") { received -> String? in
            let text = Answer.text(received.bytes[...])
            guard text.hasSuffix("\r\n\r\n") else { return nil }
            received.bytes = []
            return text
        }
    }
}

extension Answer {
    /// Checks the status.
    ///
    /// - Returns: The same answer.
    func expectStatus(_ status: Int, at location: SourceLocation = #_sourceLocation) -> Answer {
        #expect(self.status == status, "\(statusLine)", sourceLocation: location)
        return self
    }

    /// Checks the members of a problem.
    ///
    /// - Returns: The same answer.
    @discardableResult
    func expectProblem(
        _ status: Int, _ kind: String? = nil, evidence: Evidence? = nil, at location: SourceLocation = #_sourceLocation
    ) -> Answer {
        #expect(self.status == status, "\(statusLine)", sourceLocation: location)
        if let kind { #expect(member("kind") == kind, "\(body)", sourceLocation: location) }
        if let evidence { #expect(member("evidence") == evidence.rawValue, "\(body)", sourceLocation: location) }
        return self
    }
}
