import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that close their side inside an intercepted connection (RFC 9112 section 9.8).
    @Suite(.bothPaths) struct ConnectionEnds {
        @Test(arguments: ["1.2", "1.3"]) func endBehindAWholeRequestIsNoError(version: String) async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            for end in ["silent", "notify"] {
                let client = try await test.tunnelClient(
                    ["--name", "localhost", "--post", "/echo", "--end", end] + (version == "1.2" ? ["--version", version] : []))
                #expect(client.status == 200, "\(end): \(client)")
                #expect(client.end == "close_notify", "\(end): our end is told by TLS")
            }
            #expect(origin.records.map(\.length) == [1000, 1000])
            let log = test.scene.layover.process.output + test.scene.layover.process.errors
            #expect(!log.contains(#""level":"error""#) && !log.contains(#""level":"warning""#), "\(log)")
        }

        /// Bytes behind a close_notify mean nothing, and are left where they cost the sender.
        @Test func bytesBehindTheEndAreNotKept() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            let client = try await test.tunnelClient(["--name", "localhost", "--get", "/stalled/1000000", "--end", "flood"])
            let sent = try #require(client.end.flatMap { Int($0) })
            #expect(sent < 32 << 20, "\(sent) bytes were taken")
            withExtendedLifetime(origin) {}
        }

        /// A body that is cut off is no body, whether TLS says that it is over or not.
        @Test(arguments: ["silent", "notify"]) func endWithinABodyIsNoWholeRequest(end: String) async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            let client = try await test.tunnelClient(["--name", "localhost", "--post", "/echo", "--body", "999", "--end", end])
            #expect(client.status != 200, "\(client)")
            _ = try await test.tunnelClient(["--name", "localhost", "--get", "/echo?second"])
            #expect(origin.records.map(\.target) == ["/echo?second"], "nothing else came whole")
        }
    }
}
