import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Requests to origins with TLS through parent proxies that misbehave.
@Suite(.bothPaths)
struct ParentProxyTests {
    /// - Parameter answer: Sent after CONNECT.
    private static func failure(of method: String = "GET", answer: String, closes: Bool) async throws -> Failure {
        let parentProxy = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write(answer)
            if !closes { connection.readToEnd() }
        }
        let rig = try UpstreamRig()
        var request = rig.request(method, port: 443, scheme: .https, host: "o.test")
        request.parentProxy = ParentProxy(scheme: .http, host: "127.0.0.1", port: parentProxy.port)
        let facts = await rig.send(request)
        try await rig.stop()
        #expect(parentProxy.received.count == 1 && parentProxy.count(of: "CONNECT o.test:443 HTTP/1.1\r\n") == 1)
        return try #require(facts.failure)
    }

    private static let answers: [(String, Bool, FailureKind, String)] = [
        ("lorem ipsum\r\n\r\n", false, .parentProxyMisconfigured, Failure.parentProxyIsNoHTTP),
        ("<html></html>\n", true, .parentProxyMisconfigured, Failure.parentProxyIsNoHTTP),
        ("HTTP/1.1 700 X\r\n\r\n", false, .parentProxyMisconfigured, "The parent proxy answered CONNECT with the invalid status 700."),
        (
            "HTTP/1.1 200 X\r\nX: \(String(repeating: "a", count: 90_000))\r\n\r\n", false, .parentProxyMisconfigured,
            Failure.parentProxyResponseTooLarge
        ),
        ("HTTP/1.1 403 X\r\n\r\n", false, .parentProxyDenied, "The parent proxy refused the connection to the origin (status 403)."),
        (
            "HTTP/1.1 407 X\r\n\r\n", false, .parentProxyMisconfigured,
            "The parent proxy wants credentials, or others (status 407). See upstreamProxy in the configuration."
        ),
        ("HTTP/1.1 503 X\r\n\r\n", false, .destinationUnavailable, "The parent proxy could not connect to the origin (status 503)."),
        (
            "HTTP/1.1 200 OK\r\nX", true, .connectionTerminated,
            "The parent proxy closed the connection before it was open to the origin."
        ),
        (
            "HTTP/1.1 403 No\r\nX", true, .connectionTerminated,
            "The parent proxy closed the connection before it was open to the origin."
        ),
    ]

    @Test(arguments: answers)
    func responseToConnectIsJudgedAlike(answer: String, closes: Bool, kind: FailureKind, message: String) async throws {
        for method in ["GET", "POST"] {
            let failure = try await Self.failure(of: method, answer: answer, closes: closes)
            #expect(failure.kind == kind)
            #expect(failure.message == message)
            #expect(failure.phase == .connecting && failure.evidence == .neverSent)
            #expect(failure.bytesSent == 0, "CONNECT is no part of the request")
        }
    }

    @Test(arguments: [["X-Secret: 1", "Via: 1.0 a, 1.1 layover-0a1b2c3d"], ["X-Secret: 1"]])
    func connectCarriesTheViaFieldOfItsRequest(fields: [String]) async throws {
        let parentProxy = try MisbehavingOrigin { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 403 X\r\n\r\n")
        }
        let rig = try UpstreamRig()
        var request = rig.request("GET", port: 443, scheme: .https, host: "o.test", fields: fields)
        request.parentProxy = ParentProxy(scheme: .http, host: "127.0.0.1", port: parentProxy.port)
        _ = await rig.send(request)
        try await rig.stop()
        #expect(parentProxy.count(of: "CONNECT o.test:443 HTTP/1.1\r\n") == 1)
        #expect(parentProxy.count(of: "\r\nVia: 1.0 a, 1.1 layover-0a1b2c3d\r\n") == fields.count - 1)
        #expect(parentProxy.count(of: "X-Secret") == 0, "the fields of the request are for the origin")
    }

    /// libcurl takes an interim response for the final one.
    @Test func interimResponseIsFollowedByTheFinalOne() async throws {
        let failure = try await Self.failure(answer: "HTTP/1.1 103 X\r\n\r\nHTTP/1.1 403 X\r\n\r\n", closes: false)
        #expect(failure.kind == (Path.current == .direct ? .parentProxyDenied : .parentProxyMisconfigured))
        #expect(failure.message.contains(Path.current == .direct ? "(status 403)" : "(status 103), and libcurl"), "\(failure.message)")
    }

    private static func request(_ rig: UpstreamRig, through parentProxy: MisbehavingOrigin) -> UpstreamRequest {
        var request = rig.request("POST", port: 443, scheme: .https, host: "o.test")
        request.parentProxy = ParentProxy(scheme: .http, host: "127.0.0.1", port: parentProxy.port)
        return request
    }

    /// - Returns: The outcome of an attempt whose CONNECT arrived; nil if the time was over before, as on a busy machine.
    private static func outcomeOfSilence(connectMax: Duration, on rig: UpstreamRig) async throws -> AttemptRecord.Facts? {
        let parentProxy = try MisbehavingOrigin.silent(Signal()) { $0.readHead() != nil }
        var request = Self.request(rig, through: parentProxy)
        request.timeouts.connect = connectMax
        let facts = await rig.send(request)
        return parentProxy.count(of: "CONNECT o.test:443 HTTP/1.1\r\n") == 1 ? facts : nil
    }

    @Test func parentProxyThatIsSilentAfterConnectIsATimeout() async throws {
        let rig = try UpstreamRig()
        var outcome: AttemptRecord.Facts?
        for milliseconds in [300, 1_000, 3_000, 9_000] where outcome == nil {
            outcome = try await Self.outcomeOfSilence(connectMax: .milliseconds(milliseconds), on: rig)
        }
        let facts = try #require(outcome)
        #expect(facts.failure?.kind == .connectionTimeout)
        #expect(facts.failure?.message == "The parent proxy did not open the connection to the origin in time.")
        #expect(facts.failure?.phase == .connecting && facts.failure?.evidence == .neverSent)
    }

    @Test(arguments: [true, false])
    func cancelWhileTheParentProxyIsAskedIsNeverSent(onlyIfConnecting: Bool) async throws {
        let asked = Signal()
        let parentProxy = try MisbehavingOrigin.silent(asked) { $0.readHead() != nil }
        let rig = try UpstreamRig()
        let record = rig.start(Self.request(rig, through: parentProxy))
        #expect(await asked.happened())
        if onlyIfConnecting { record.cancelIfConnecting() } else { record.cancel() }
        record.cancel()
        let facts = await record.ended()
        #expect(facts.events == ["failed"])
        facts.failure.expect(evidence: .neverSent, shutsGate: false)
        let terminalCount = try await rig.eventLoop.submit { record.facts.terminalCount }.get()
        #expect(terminalCount == 1)
    }

    @Test func bytesBehindASuccessThatAreNoTLSFailTheHandshake() async throws {
        let failure = try await Self.failure(answer: "HTTP/1.1 200 OK\r\n\r\nlorem ipsum\r\n", closes: false)
        #expect(failure.kind == .tlsProtocolError)
        #expect(failure.phase == .securing && failure.evidence == .neverSent && failure.bytesSent == 0)
    }
}

/// What libcurl 7.88.1 reports of a response to CONNECT, as it was seen.
@Suite struct ConnectResponseTests {
    private static let reports: [(Int32, String, Int, Int, ConnectResponse)] = [
        (56, "CONNECT tunnel failed, response 0", 0, 21, .noHTTP), (28, "Proxy CONNECT aborted due to timeout", 0, 13, .noHTTP),
        (56, "Proxy CONNECT aborted", 0, 32, .noHTTP), (28, "Proxy CONNECT aborted due to timeout", 0, 0, .incomplete),
        (56, "Proxy CONNECT aborted", 0, 0, .incomplete), (56, "Proxy CONNECT aborted", 200, 17, .incomplete),
        (28, "Proxy CONNECT aborted due to timeout", 200, 17, .incomplete),
        (56, "Recv failure: Connection reset by peer", 200, 17, .incomplete),
        (56, "Proxy CONNECT aborted", 403, 36, .incomplete), (28, "Proxy CONNECT aborted due to timeout", 403, 17, .incomplete),
        (56, "CONNECT response too large", 200, 17, .tooLarge), (56, "CONNECT response too large", 0, 0, .tooLarge),
        (56, "Too large response headers: 308017 > 307200", 200, 308_017, .tooLarge),
        (56, "CONNECT tunnel failed, response 403", 403, 38, .refusal(status: 403)),
        (56, "CONNECT tunnel failed, response 103", 103, 53, .refusal(status: 103)), (28, "SSL connection timeout", 200, 36, .open),
        (35, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to o.test:443", 200, 45, .open),
        (60, "SSL certificate problem: unable to get local issuer certificate", 200, 19, .open),
    ]

    @Test(arguments: reports)
    func reportIsRead(code: Int32, remark: String, status: Int, byteCount: Int, response: ConnectResponse) {
        var progress = TransferProgress()
        (progress.remark, progress.connectStatus, progress.connectLineByteCount) = (remark, status, byteCount)
        #expect(progress.connectResponse(.named(code)) == response)
    }
}
