import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverOrigin

/// CONNECT to a parent proxy whose response is played byte for byte.
@Suite struct ParentProxyConnectTests {
    private final class Outcomes {
        var all: [ParentProxyConnect.Outcome] = []
    }

    private final class Bench {
        let channel: EmbeddedChannel
        let outcomes: Outcomes
        let connect: ParentProxyConnect

        init(_ parentProxy: ParentProxy = ParentProxy(scheme: .http, host: "p.test"), fields: RequestFields = [:]) throws {
            let (channel, outcomes) = (EmbeddedChannel(), Outcomes())
            let connect = ParentProxyConnect(
                to: Origin(scheme: .tunnel, host: "o.test", port: 443), through: parentProxy, fields: fields,
                remoteAddress: "192.0.2.1", readyBy: channel.eventLoop.now + .seconds(1)
            ) { outcomes.all.append($0) }
            (self.channel, self.outcomes, self.connect) = (channel, outcomes, connect)
            try channel.pipeline.syncOperations.addHandler(connect)
            channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 3128), promise: nil)
        }

        /// Plays the response in pieces of so many bytes, as far as it is read.
        func play(_ response: String, by count: Int) throws {
            var bytes = ByteBuffer(string: response)
            while outcomes.all.isEmpty, let piece = bytes.readSlice(length: min(count, bytes.readableBytes)), piece.readableBytes > 0 {
                try channel.writeInbound(piece)
            }
        }

        var failure: Failure? {
            guard outcomes.all.count == 1, case .failed(let failure)? = outcomes.all.first else { return nil }
            return failure
        }
    }

    @Test func credentialsAreInTheRequest() throws {
        let bench = try Bench(ParentProxy(scheme: .http, host: "p.test", user: "me", password: "word"))
        let head = try #require(try bench.channel.readOutbound(as: ByteBuffer.self))
        let lines = ["CONNECT o.test:443 HTTP/1.1", "Host: o.test:443", "Proxy-Authorization: Basic bWU6d29yZA==", "", ""]
        #expect(String(buffer: head) == lines.joined(separator: "\r\n"))
    }

    @Test func viaOfTheRequestIsItsOnlyFieldInTheRequest() throws {
        let bench = try Bench(fields: ["Authorization": "s", "VIA": "1.0 a, 1.1 layover-0a1b2c3d", "Via-X": "1", "Cookie": "s"])
        let head = try #require(try bench.channel.readOutbound(as: ByteBuffer.self))
        let lines = ["CONNECT o.test:443 HTTP/1.1", "Host: o.test:443", "VIA: 1.0 a, 1.1 layover-0a1b2c3d", "", ""]
        #expect(String(buffer: head) == lines.joined(separator: "\r\n"))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\n", ""), ("HTTP/1.0 200\r\nContent-Type: text/plain\r\n\r\nearly", "early"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\nearly", "early"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\nearly", "early"),
    ])
    func bytesBehindASuccessBelongToTheTunnel(response: String, rest: String) throws {
        let bench = try Bench()
        try bench.play(response, by: response.utf8.count)
        #expect(bench.outcomes.all.count == 1)
        guard case .open(_, let bytes)? = bench.outcomes.all.first else {
            Issue.record("\(bench.outcomes.all)")
            return
        }
        #expect(String(buffer: bytes) == rest)
        #expect(bench.channel.isActive)
        // The handler has left the pipeline.
        try bench.channel.writeInbound(ByteBuffer(string: "later"))
        #expect(try bench.channel.readInbound(as: ByteBuffer.self).map { String(buffer: $0) } == "later")
    }

    private static let refusals: [(String, FailureKind, String)] = [
        ("lorem ipsum", .parentProxyMisconfigured, Failure.parentProxyIsNoHTTP),
        ("SSH-2.0-OpenSSH_9.2\r\n", .parentProxyMisconfigured, Failure.parentProxyIsNoHTTP),
        (
            "\u{15}\u{3}\u{1}", .parentProxyMisconfigured,
            "The parent proxy answered CONNECT with an alert of TLS. Its URL may have to begin with https."
        ),
        (
            "\0\0\u{6}\u{4}\0\0\0\0\0", .parentProxyMisconfigured,
            "The parent proxy answered CONNECT in HTTP/2, and was asked in HTTP/1.1."
        ),
        (
            "HTTP/1.1 099 X\r\n", .parentProxyMisconfigured,
            "The parent proxy does not answer CONNECT by the rules of HTTP: The status is not between 100 and 999."
        ),
        ("HTTP/1.1 700 X\r\n\r\n", .parentProxyMisconfigured, "The parent proxy answered CONNECT with the invalid status 700."),
        (
            "HTTP/1.1 101 X\r\n", .parentProxyMisconfigured,
            "The parent proxy answered CONNECT with a change of the protocol (status 101)."
        ),
        ("HTTP/1.1 200 \(String(repeating: "a", count: 70_000))", .parentProxyMisconfigured, Failure.parentProxyResponseTooLarge),
        ("HTTP/1.1 302 X\r\n\r\n", .parentProxyDenied, "The parent proxy refused the connection to the origin (status 302)."),
        (
            "HTTP/1.1 403 X\r\nContent-Length: 9\r\n\r\n", .parentProxyDenied,
            "The parent proxy refused the connection to the origin (status 403)."
        ),
        (
            "HTTP/1.1 407 X\r\n\r\n", .parentProxyMisconfigured,
            "The parent proxy wants credentials, or others (status 407). See upstreamProxy in the configuration."
        ),
        (
            "HTTP/1.1 502 X\r\nProxy-Status: a; error=dns_error\r\nProxy-Status: b;error=proxy_loop_detected; x\r\n\r\n",
            .proxyLoopDetected,
            "A proxy on the way to the origin got its own request back (a loop). See upstreamProxy in the configuration."
        ),
        (
            "HTTP/1.1 502 X\r\nProxy-Status: a; error=dns_error\r\n\r\n", .destinationUnavailable,
            "The parent proxy could not connect to the origin (status 502)."
        ),
        (
            "HTTP/1.1 502 X\r\nProxy-Status: a; error=dns_error; details=\"b: \\\"; error=proxy_loop_detected; \\\"\"\r\n\r\n",
            .destinationUnavailable, "The parent proxy could not connect to the origin (status 502)."
        ),
        (
            "HTTP/1.1 502 X\r\nProxy-Status: a; details=\"a \\\" b\"; error=proxy_loop_detected\r\n\r\n", .proxyLoopDetected,
            "A proxy on the way to the origin got its own request back (a loop). See upstreamProxy in the configuration."
        ),
        ("HTTP/1.1 429 X\r\n\r\n", .destinationUnavailable, "The parent proxy could not connect to the origin (status 429)."),
    ]

    @Test(arguments: refusals)
    func otherResponsesAreFailuresThatSentNothing(response: String, kind: FailureKind, message: String) throws {
        for count in [response.utf8.count, 999, 1] where response.utf8.count < 1_000 || count > 1 {
            let bench = try Bench()
            try bench.play(response, by: count)
            let failure = try #require(bench.failure)
            #expect(failure.kind == kind)
            #expect(failure.message == message)
            #expect(failure.phase == .connecting && failure.evidence == .neverSent && failure.bytesSent == 0)
            #expect(!bench.channel.isActive)
        }
    }

    private static let waits: [(String, Int?)] = [
        ("503 X\r\nRetry-After: 120", 120), ("429 X\r\nRetry-After: 1", 1), ("503 X", nil), ("403 X\r\nRetry-After: 120", nil),
        ("503 X\r\nDate: Fri, 27 Nov 2026 02:00:00 GMT\r\nRetry-After: Fri, 27 Nov 2026 02:00:30 GMT", 30),
        ("503 X\r\nRetry-After: soon", nil),
    ]

    @Test(arguments: waits)
    func waitThatTheResponseAsksForIsInTheFailure(response: String, seconds: Int?) throws {
        let bench = try Bench()
        try bench.play("HTTP/1.1 \(response)\r\n\r\n", by: 1_000)
        let failure = try #require(bench.failure)
        #expect(failure.retryAfter == seconds.map { Duration.seconds($0) })
        #expect(failure.evidence == .neverSent)
    }

    @Test(arguments: ["", "HTTP/1.", "HTTP/1.1 200 OK\r\nX", "HTTP/1.1 100 Continue\r\n\r\n"])
    func endBeforeTheResponseIsCompleteIsALostConnection(response: String) throws {
        let bench = try Bench()
        try bench.play(response, by: 100)
        #expect(bench.outcomes.all.isEmpty)
        bench.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(bench.outcomes.all.count == 1)
        guard case .lost(nil)? = bench.outcomes.all.first else {
            Issue.record("\(bench.outcomes.all)")
            return
        }
        #expect(!bench.channel.isActive)
    }

    @Test func responseThatIsNotCompleteInTimeIsATimeout() throws {
        let bench = try Bench()
        try bench.play("HTTP/1.1 200 OK\r\nX", by: 100)
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(bench.failure?.kind == .connectionTimeout)
        #expect(bench.failure?.message == "The parent proxy did not open the connection to the origin in time.")
    }

    @Test func cancelledRequestHasNoOutcome() throws {
        let bench = try Bench()
        bench.connect.cancel()
        #expect(!bench.channel.isActive)
        bench.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(bench.outcomes.all.isEmpty)
    }
}
