import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverMonitor

struct UpstreamProberTests {
    private let upstream = ScriptedUpstream()
    private let origin = Origin(scheme: .http, host: "probe.example", port: 8080)

    private func makeProber() throws -> UpstreamProber {
        try UpstreamProber(
            origin: origin, target: "/generate_204?x=1", expectedStatus: 204,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), upstream: upstream)
    }

    /// Makes one probe, lets the script answer it, and gives the result.
    private func probe(_ answer: (ScriptedAttempt) -> Void) async throws -> ProbeResult {
        let prober = try makeProber()
        async let result = prober.probe()
        answer(try await upstream.nextAttempt())
        let found = await result
        #expect(upstream.complaints == [])
        return found
    }

    @Test(arguments: [204, 200, 302, 307, 401, 503, 511])
    func onlyTheExpectedStatusIsNoPortal(status: Int) async throws {
        let result = try await probe { $0.respond(status, ["Location: http://portal.example/"]) }
        #expect(result == (status == 204 ? .expected : .portal(status: status)))
    }

    @Test func missingResponseIsAFailure() async throws {
        let result = try await probe { $0.fail(.connectionTimeout) }
        #expect(result == .failed(.connectionTimeout, message: "The script says connection_timeout."))
    }

    @Test func aBodyIsNotWaitedForButAborted() async throws {
        let prober = try makeProber()
        async let result = prober.probe()
        let attempt = try await upstream.nextAttempt()
        attempt.sendHead(200, ["Content-Length: 1000000"])
        #expect(await result == .portal(status: 200))
        try await attempt.seen.wait("the abort") { $0.isCancelled && $0.isOver }
        #expect(upstream.complaints == [])
    }

    @Test func interimResponseIsIgnored() async throws {
        let result = try await probe { attempt in
            attempt.deliver([attempt.head(103, [])])
            attempt.respond(204)
        }
        #expect(result == .expected)
    }

    @Test func aProbeTrustsNoConnectionAndNoNameOfBefore() async throws {
        let prober = try makeProber()
        for number in 1...2 {
            async let result = prober.probe()
            let attempt = try await upstream.nextAttempt()
            #expect(attempt.attempt.needsFreshConnection)
            #expect(upstream.record.value.networkChangeCount == number)
            #expect(attempt.request.method == "GET")
            #expect(attempt.request.target == "/generate_204?x=1")
            #expect(attempt.request.host == "probe.example:8080")
            #expect(attempt.request.origin == origin)
            attempt.respond(204)
            #expect(await result == .expected)
        }
    }

    @Test func twoProbesAtOnceGetTheirOwnResponses() async throws {
        let prober = try makeProber()
        async let first = prober.probe()
        let one = try await upstream.nextAttempt()
        async let second = prober.probe()
        let other = try await upstream.nextAttempt()
        other.respond(204)
        #expect(await second == .expected)
        one.fail(.dnsError, phase: .resolving)
        #expect(await first == .failed(.dnsError, message: "The script says dns_error."))
        #expect(upstream.complaints == [])
    }

    @Test func itsWorkerEndsWithIt() async throws {
        do { _ = try makeProber() }
        try await upstream.record.wait("the end of the worker") { $0.shutDownCount == 1 }
    }
}
