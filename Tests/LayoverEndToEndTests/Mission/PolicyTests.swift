import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The second and the fourth system of the mission: what the rules of a policy do.
    @Suite struct Policies {
        private static func policy(_ keys: String) -> String { #"{"policies":{"default":{\#(keys)}}}"# }

        private static let quick = #""delay":{"type":"constant","every":"20ms","jitter":"none"}"#

        @Test func s2aRetriesWithoutEndUntilItIsAnswered() async throws {
            let scene = try await Scene(Self.policy(Self.quick))
            let client = try scene.layover.curl(scene.url("/echo")).start()
            try await scene.layover.waitForPending("many attempts were made") { ($0.data.first?.attempts ?? 0) > 8 }
            let origin = try await scene.startOrigin()
            #expect(await client.result().status == 0)
            #expect(origin.records.count == 1)
        }

        @Test func s2aRetriesAtMostNTimes() async throws {
            let scene = try await Scene(Self.policy(Self.quick + #","automaticAttemptsMax":3"#))
            let response = try await scene.layover.exchange(
                "GET \(scene.url("/")) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(response.status == 502)
            #expect(response.text.contains(#""attempts":3"#))
        }

        @Test func s2bEndsInSuccessWithAStandIn() async throws {
            let standIn = #","automaticAttemptsMax":2,"onExhausted":{"status":200,"fields":{"Content-Type":"application/json"},"body":"[]"}"#
            let scene = try await Scene(Self.policy(Self.quick + standIn))
            let response = try await scene.layover.exchange(
                "GET \(scene.url("/")) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(response.status == 200)
            #expect(response.text == "[]")
            #expect(response.field("Proxy-Status")?.contains("stand-in") == true)
        }

        /// One message for all requests: it counts down, retries three times, and then only a person counts.
        @Test func s2cAfterThreeAutomaticRetriesOnlyAPersonDecides() async throws {
            let quick = #"{"policies":{"ask":{"delay":{"type":"constant","every":"50ms","jitter":"none"}},"default":{}}}"#
            let scene = try await Scene(quick)
            let ask = ["--header", "Layover-Policy: ask"]
            let clients = try (1...2).map { try scene.layover.client("curl", ["--silent", scene.url("/echo?\($0)")] + ask).start() }
            let listing = try await scene.layover.waitForPending("both are undecided") {
                $0.data.count == 2 && $0.data.allSatisfy { $0.state == "undecided" && $0.why == "exhausted" }
            }
            #expect(listing.data.contains { $0.attempts == 4 }, "the first and three retries")
            let incidents = try await scene.layover.call("GET", "/v1/incidents").text
            #expect(incidents.contains(#""manualOnly":true"#))
            #expect(incidents.contains(#""waiting":2"#))
            let origin = try await scene.startOrigin()
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"hint":"changed"}"#)
            let attempts = try await scene.layover.call("GET", "/v1/pending").text
            #expect(attempts.contains("undecided"), "reachability is no person")
            #expect(origin.records.isEmpty)
            #expect(try await scene.layover.command("retry", "--all").run().status == 0)
            for client in clients { #expect(await client.result().status == 0) }
        }

        @Test func s2dOnlyChosenErrorsAreRetried() async throws {
            let scene = try await Scene(Self.policy(Self.quick + #","retryOn":["dns"]"#))
            let response = try await scene.layover.exchange(
                "GET \(scene.url("/")) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(response.status == 502)
            #expect(response.text.contains(#""attempts":1"#))
        }

        @Test(arguments: [
            #"{"type":"immediate"}"#,
            #"{"type":"constant","every":"20ms"}"#,
            #"{"type":"exponential","initial":"1ms","multiplier":2,"max":"20ms","jitter":"equal"}"#,
            #"{"type":"schedule","delays":["1ms","5ms","20ms"]}"#,
        ])
        func s4bEveryKindOfDelayLeadsToTheNextAttempt(delay: String) async throws {
            let scene = try await Scene(Self.policy(#""delay":\#(delay),"automaticAttemptsMax":5"#))
            let response = try await scene.layover.exchange(
                "GET \(scene.url("/")) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(response.status == 502)
            #expect(response.text.contains(#""attempts":5"#))
        }

        /// The timer is an hour away; the change of the network is first, unless the policy says no.
        @Test func s4cWaitEndsAtItsDueTimeOrWhenTheNetworkIsReachable() async throws {
            let long = #""delay":{"type":"constant","every":"1h","jitter":"none"}"#
            let scene = try await Scene(Self.policy(long))
            let client = try scene.layover.curl(scene.url("/echo")).start()
            try await scene.layover.waitForPending("it waits") { $0.waitingCount == 1 }
            let origin = try await scene.startOrigin()
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"hint":"changed"}"#)
            #expect(await client.result().status == 0)
            #expect(origin.records.count == 1)

            let deaf = try await Scene(Self.policy(long + #","wakeOnReachable":false"#))
            let other = try deaf.layover.curl(deaf.url("/echo")).start()
            try await deaf.layover.waitForPending("it waits") { $0.waitingCount == 1 }
            let unasked = try await deaf.startOrigin()
            _ = try await deaf.layover.call("PUT", "/v1/reachability", json: #"{"hint":"changed"}"#)
            let after = try await deaf.layover.call("GET", "/v1/pending").text
            #expect(after.contains(#""state":"waiting""#))
            #expect(unasked.records.isEmpty)
            other.signal(SIGKILL)
        }
    }
}
