import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Retry
import Testing

@testable import LayoverProxy

/// Holding of requests, as rules, clients and the network decide it.
struct HoldingRulesTests {
    @Test func modePassReturnsTheFirstFailure() async throws {
        try await withAttempt(of: .get("/", "Layover-Mode: pass")) { proxy, client, attempt in
            attempt.fail()
            let response = try await client.answer().expectProblem(502, "connection_refused")
            #expect(response["Content-Type"] == "application/problem+json")
            #expect(response.member("title") == "Bad Gateway")
            #expect(response.member("status") == "502")
            #expect(response.member("type") == "urn:layover:problem:connection_refused")
            #expect(response["Proxy-Status"] == #"layover; error=connection_refused; details="The script says connection_refused.""#)
            #expect(await proxy.engine.liveEntries().isEmpty)
        }
    }

    @Test(arguments: [
        ("Layover-Mode: sometimes", 400), ("Layover-Mode: pass\r\nLayover-Mode: hold", 400), ("Layover-Policy: unknown", 400),
        ("Layover-Lane: a", 200), ("Layover-After: 1", 400), ("Layover-Mode: defer", 507), ("Layover-Policy: outbox", 507),
        ("Layover-Unknown: x", 200),
    ])
    func invalidLayoverFieldsAreRefused(field: String, status: Int) async throws {
        try await withProxy(script: { $0.respond(200, ["Content-Length: 0"]) }) { proxy in
            let response = try await proxy.answer(to: .get("/", field)).expectStatus(status)
            if status == 507 { #expect(response.member("detail")?.contains("store.path") == true) }
            #expect(proxy.upstream.startedCount == (status == 200 ? 1 : 0))
        }
    }

    /// The certificate of a captive portal is not that of the origin. Without a portal the error fails the request
    /// again.
    @Test func certificateErrorIsParkedWhileACaptivePortalAnswers() async throws {
        try await withProxy { proxy in
            proxy.loop.setNetwork(.init(isAway: true, isBehindPortal: true))
            let client = try await proxy.client(sending: .get("/"))
            try await proxy.nextAttempt().fail(.tlsCertificateError, phase: .securing)
            let entry = try await proxy.entry()
            #expect(entry.lastFailure?.kind == .tlsCertificateError)
            proxy.loop.setNetwork(.init())
            try await proxy.retry(entry.id).fail(.tlsCertificateError, phase: .securing)
            try await client.answer().expectProblem(502, "tls_certificate_error")
        }
    }

    @Test func offlineHoldsWithoutAnAttempt() async throws {
        try await withProxy { proxy in
            _ = await proxy.engine.setMode(.offline, reason: nil)
            try await proxy.settle()
            let client = try await proxy.client(sending: .get("/"))
            #expect(try await proxy.entry().waitingFor == .network)
            #expect(proxy.upstream.startedCount == 0)
            try await proxy.answer(to: .get("/", "Layover-Mode: pass")).expectProblem(503, "offline")
            _ = await proxy.engine.setMode(.auto, reason: nil)
            try await proxy.nextAttempt().respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
        }
    }

    @Test func hangingReplayIsRepeatedAfterANetworkChange() async throws {
        try await withParked { proxy, client, entry in
            let hanging = try await proxy.retry(entry.id)
            _ = await proxy.engine.hintChanged()
            try await proxy.upstream.record.wait("the change at the worker") { $0.networkChangeCount == 1 }
            try await hanging.seen.wait("the cancel") { $0.isCancelled }
            try await proxy.nextAttempt("another attempt").respond(200, ["Content-Length: 0"])
            #expect(try await client.answer().status == 200)
        }
    }
}
