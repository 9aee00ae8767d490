import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// HTTPS that ends in Layover: routes with `intercept`, real clients that trust its authority.
    @Suite(.bothPaths) struct Interception {
        @Test(arguments: OriginTiming.allCases)
        func requestInsideIsHeldAndDelivered(timing: OriginTiming) async throws {
            let test = try await InterceptionScene()
            let (result, records) = try await test.scene.run(
                test.curl("/echo", "--fail", "--data", "one order"), origin: timing, identity: test.authority.identity)
            #expect(result.status == 0, "\(result)")
            #expect(records.filter { $0.event == "request" }.map(\.target) == ["/echo"], "it arrived once")
        }

        @Test func waitingRequestIsListedWithItsWholeURL() async throws {
            let test = try await InterceptionScene()
            let running = try test.curl("/echo?a=b", "--fail").start()
            let pending = try await test.scene.layover.waitForPending { !$0.data.isEmpty }
            #expect(pending.data.first?.url == test.scene.secureURL("/echo?a=b"))
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(await running.result().status == 0)
            withExtendedLifetime(origin) {}
        }

        /// The client names its user once, with CONNECT.
        @Test func requestsInsideBelongToTheUserOfTheirTunnel() async throws {
            let (test, origin) = try await InterceptionScene.withOrigin(users: #"{"me": "$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."}"#)
            #expect(try await test.curl("/echo").run().status != 0, "CONNECT is refused")
            let layover = test.scene.layover
            let result = try await test.curl(
                "/echo", "--fail", "--proxy", "http://me:secret@127.0.0.1:\(layover.proxyPort)", test.scene.secureURL("/echo?2")
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(origin.records.filter { $0.event == "request" }.map(\.target) == ["/echo", "/echo?2"])
            #expect(try await layover.call("GET", "/metrics").text.contains(#"layover_user_requests_total{user="me"} 3"#))
        }
    }
}
