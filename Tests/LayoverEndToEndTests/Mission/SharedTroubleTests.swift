import Foundation
import Glibc
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The first system of the mission: requests in trouble wait together, and one word is for all of them.
    @Suite struct SharedTrouble {
        private let scene: Scene

        init() async throws { scene = try await Scene(RunningLayover.noTimedRetries) }

        /// Three clients whose requests failed for lack of a connection.
        private static func inTrouble(_ scene: Scene) async throws -> [RunningProcess] {
            let clients = try (1...3).map { try scene.layover.curl("--include", scene.url("/echo?\($0)")).start() }
            try await scene.layover.waitForPending("all wait") { $0.waitingCount == 3 }
            return clients
        }

        @Test func s1aRetryOfTheIncidentSendsAllOfThemAgain() async throws {
            let clients = try await Self.inTrouble(scene)
            let incident = try #require(try await scene.layover.incidents().first)
            #expect(try await scene.layover.incidents().count == 1, "one for all requests in trouble")
            #expect(incident.scope == "origin")
            #expect(incident.origin == "http://127.0.0.1:\(scene.port.number)")
            #expect(incident.waiting == 3)
            #expect(incident.cause?.kind == "connection_refused")
            #expect(incident.cause?.phase == "connecting")
            #expect(!incident.manualOnly)
            #expect(incident.actions == ["retry", "cancel"])
            let before = try await scene.layover.waitForPending("all wait") { $0.waitingCount == 3 }
            // Before the origin is back: then they would go by themselves.
            let response = try await scene.layover.call("POST", "/v1/incidents/\(incident.id)/retry")
            #expect(response.status == 200)
            // A request that came when the gate was shut has had no attempt yet.
            try await scene.layover.waitForPending("all were tried again") { listing in
                listing.data.count == 3
                    && listing.data.allSatisfy { now in before.data.contains { $0.id == now.id && $0.attempts < now.attempts } }
            }
            let origin = try await scene.startOrigin()
            for client in clients { #expect(await client.result().output.hasPrefix("HTTP/1.1 200")) }
            #expect(origin.records.count { $0.target.hasPrefix("/echo") } == 3)
            try await eventually("it is closed when nothing waits in it") { try await scene.layover.incidents().isEmpty }
        }

        @Test func s1aCancelOfTheIncidentFailsAllOfThem() async throws {
            let clients = try await Self.inTrouble(scene)
            let incident = try #require(try await scene.layover.incidents().first)
            _ = try await scene.layover.call(
                "POST", "/v1/incidents/\(incident.id)/cancel", json: #"{"reason":"not today"}"#)
            for client in clients {
                let output = await client.result().output
                #expect(output.hasPrefix("HTTP/1.1 503"))
                #expect(output.contains("not today"))
            }
        }

        @Test func s1bEventStreamNamesTheFailedRequest() async throws {
            let (layover, url) = (scene.layover, scene.url("/echo?which"))
            let (client, event) = try await onOwnThread {
                let events = try layover.admin.events()
                let client = try layover.curl("--request", "PUT", url).start()
                return (client, try events.next("request.parked", holding: url))
            }
            #expect(event.data.contains(#""method":"PUT""#))
            #expect(event.data.contains(#""kind":"connection_refused""#))
            #expect(event.data.contains(#""evidence":"neverSent""#))
            client.signal(SIGKILL)
        }

        @Test func s1cIncidentIsOpenFromTheFirstFailureUntilNothingWaits() async throws {
            let (layover, url) = (scene.layover, scene.url("/echo"))
            let (client, opened) = try await onOwnThread {
                let events = try layover.admin.events()
                let client = try layover.curl(url).start()
                return (client, try events.next("incident.opened"))
            }
            #expect(opened.data.contains(#""waiting":1"#))
            let folder = try TemporaryFolder()
            async let closed = onOwnThread {
                let events = try layover.admin.events()
                try folder.write("", to: "listens")
                return try events.next("incident.closed")
            }
            _ = try await FolderWatch(folder.url).first("the stream of events is open") {
                FileManager.default.fileExists(atPath: folder.file("listens").path) ? true : nil
            }
            let origin = try await scene.startOrigin()
            _ = try await closed
            #expect(await client.result().status == 0)
            #expect(origin.records.count == 1)
        }

        /// The caller does not know: the same command, with and without the proxy, gives the same bytes.
        @Test func s1dClientGetsTheSameBytesWithAndWithoutTheProxy() async throws {
            let client = try scene.layover.curl(scene.url("/large/5000")).start()
            try await scene.layover.waitForPending("it waits") { $0.waitingCount == 1 }
            let origin = try await scene.startOrigin()
            _ = try await scene.layover.call("POST", "/v1/pending/retry", json: #"{"all":true}"#)
            let through = await client.result()
            let direct = try await Command("curl", ["--silent", "--noproxy", "*", scene.url("/large/5000")]).run()
            #expect(through.status == 0)
            #expect(through.output == direct.output)
            #expect(origin.records.count == 2)
        }

        /// Nobody retries: somebody says that the network changed. (The real link is in `NetworkOutage`.)
        @Test func s1eRequestsAreRetriedWhenConnectivityReturns() async throws {
            let clients = try await Self.inTrouble(scene)
            let origin = try await scene.startOrigin()
            _ = try await scene.layover.call("PUT", "/v1/reachability", json: #"{"hint":"changed"}"#)
            for client in clients { #expect(await client.result().output.hasPrefix("HTTP/1.1 200")) }
            #expect(origin.records.count == 3)
        }
    }
}
