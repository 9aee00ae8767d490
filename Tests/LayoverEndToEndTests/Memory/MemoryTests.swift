import Foundation
import LayoverTestSupport
import Testing

private let memcheckSeconds = ProcessInfo.processInfo.environment["MEMCHECK_SECONDS"].flatMap(Int.init)

/// Uploads, downloads, tunnels, tickets, cancels and replays at the same time: each byte arrives as it was sent, and
/// nobody touches memory that is not theirs.
///
/// `make test-memory` runs both for longer, on the release binary: MEMCHECK_SECONDS and MIXED_SECONDS, MIXED_SEED.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct MemoryTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    private static var seed: UInt64 { number("MIXED_SEED") ?? .random(in: 1...999_999) }

    @Test(arguments: ["direct", "libcurl"])
    func bodiesArriveUnchangedUnderMixedLoad(upstream: String) async throws {
        let load = try MixedLoad(seconds: Self.number("MIXED_SECONDS").map(Int.init) ?? 20, seed: Self.seed)
        let layover = try await RunningLayover.$upstream.withValue(upstream) { try await RunningLayover.start(load.configuration) }
        try await expectNoBreach(load, on: layover)
        let result = await layover.stop()
        #expect(result.status == 0, "\(result)")
    }

    /// As part of `make test` it takes three minutes at most: forty seconds of load, and some thirty for the rest.
    /// `make test-memory` takes the path of libcurl as well.
    @Test(.timeLimit(.minutes(memcheckSeconds == nil ? 3 : 60)), arguments: memcheckSeconds == nil ? ["direct"] : ["direct", "libcurl"])
    func memcheckFindsNothingUnderMixedLoad(upstream: String) async throws {
        // A time limit ends no process. So whatever is under way ten seconds before it is killed, and the error names it.
        let deadline = Deadline(in: memcheckSeconds.map { Duration.seconds($0 + 900) } ?? .seconds(170))
        let memcheck = try await Memcheck()
        var load = try MixedLoad(seconds: memcheckSeconds ?? 40, seed: Self.seed)
        let configuration = load.configuration
        let layover = try await RunningLayover.$upstream.withValue(upstream) {
            try await memcheck.start(configuration, within: deadline.left)
        }
        // Some thirty times slower than otherwise, so fewer at a time, and less of it.
        load.clientCount = 6
        load.downloadByteCountMax = 700_000
        load.uploadByteCountMax = 200_000
        load.patience = .seconds(memcheckSeconds == nil ? 60 : 120)
        try await expectNoBreach(load, on: layover, within: deadline.left)
        let result = await layover.stop(within: deadline.left)
        #expect(result.status == 0, "\(result)\n\(memcheck.errors)")
        #expect(memcheck.log.contains("ERROR SUMMARY: 0 errors"), "\(memcheck.errors)")
    }

    /// TLS that ends in Layover, with HTTP/2 and HTTP/1.1 inside.
    @Test(.timeLimit(.minutes(5))) func memcheckFindsNothingInInterception() async throws {
        struct Result: Decodable {
            var good: Int
            var all: Int
        }

        let memcheck = try await Memcheck()
        let root = try TemporaryFolder()
        let authority = try await TestAuthority(in: root)
        let layover = try await memcheck.start(
            """
            {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"}, "routes": {"seen": {"host": "localhost", "intercept": true}}}
            """, within: .seconds(120))
        let port = try ReservedPort()
        let origin = try await RunningOrigin.start(in: root, port: port, identity: authority.identity)
        let own = layover.folder.file("authority/ca.pem").path
        let client = Command("node", [Fixtures.path("http2_client.mjs"), "\(layover.proxyPort)", "\(port.number)", own, "bodies"])
        // Cancelled in the middle, and its bytes are counted by nobody.
        let cancelled = layover.client(
            "curl", "--silent", "--http1.1", "--cacert", own, "--max-time", "1", "--limit-rate", "100K", "--output", "/dev/null",
            "https://localhost:\(port.number)/large/9000000")
        async let other = cancelled.run(within: .seconds(120))
        let output = try await client.succeed(within: .seconds(600)).output
        #expect(try await other.status == 28)
        let result = try JSONDecoder().decode(Result.self, from: Data(output.utf8))
        #expect(result.good == result.all, "\(output)")
        // A client that rejects the certificate.
        _ = try await layover.client("curl", "--silent", "https://localhost:\(port.number)/").run(within: .seconds(60))
        let ended = await layover.stop(within: .seconds(120))
        #expect(ended.status == 0, "\(ended)\n\(memcheck.errors)")
        #expect(memcheck.log.contains("ERROR SUMMARY: 0 errors"), "\(memcheck.errors)")
        withExtendedLifetime(origin) {}
    }

    private func expectNoBreach(_ load: MixedLoad, on layover: RunningLayover, within limit: Duration? = nil) async throws {
        print("mixed load: MIXED_SEED=\(load.seed), \(load.seconds) s")
        let report = try await load.run(on: layover, within: limit)
        print("mixed load: \(report.summary)")
        #expect(report.breachCount == 0, "MIXED_SEED=\(load.seed)\n\(report.breaches.joined(separator: "\n"))")
        #expect(report.waited > 0)
    }
}

extension Deadline {
    fileprivate var left: Duration { .milliseconds(millisecondsLeft) }
}
