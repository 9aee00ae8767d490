import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Layover itself speaks TLS to the origin: absolute `https://` targets and routes with an upstream.
    @Suite(.bothPaths) struct SecureOrigin {
        @Test(arguments: OriginTiming.allCases)
        func anAbsoluteHTTPSTargetIsFetchedWithThePrivateAuthority(timing: OriginTiming) async throws {
            let files = try TemporaryFolder()
            let authority = try await TestAuthority(in: files)
            let scene = try await Scene(configuration(authority.certificate))
            var origin = timing == .already ? try await scene.startOrigin(authority.identity) : nil
            let request = "GET \(scene.secureURL("/echo")) HTTP/1.1\r\nHost: localhost:\(scene.port.number)\r\nConnection: close\r\n\r\n"
            async let response = scene.layover.exchange(request)
            if origin == nil {
                try await scene.layover.waitForPending { !$0.data.isEmpty }
                origin = try await scene.startOrigin(authority.identity)
            }

            #expect(try await response.status == 200)
            #expect(origin?.records.map(\.target) == ["/echo"])
        }

        @Test func aRouteWithASecureUpstreamReachesIt() async throws {
            let files = try TemporaryFolder()
            let authority = try await TestAuthority(in: files)
            let port = try ReservedPort()
            let origin = try await RunningOrigin.start(in: files, port: port, identity: authority.identity)
            let layover = try await RunningLayover.start(
                """
                {"tls":{"caFile":"\(authority.certificate)"},
                 "routes":{"shop":{"upstream":"https://localhost:\(port.number)"}}}
                """)
            let result = try await Command(
                "curl", ["--silent", "--show-error", "--fail", "\(layover.proxyURL)/.layover/route/shop/echo"]
            ).run()

            #expect(result.status == 0, "\(result)")
            #expect(origin.records.map(\.target) == ["/echo"])
        }

        /// A bad certificate is no outage: the client is told at once and nothing is parked.
        @Test func anOriginOfAnUnknownAuthorityIsRefusedAndNotParked() async throws {
            let scene = try await Scene()
            let authority = try await TestAuthority(in: scene.root)
            let origin = try await scene.startOrigin(authority.identity)
            let response = try await scene.layover.exchange(
                "GET \(scene.secureURL("/echo")) HTTP/1.1\r\nHost: localhost:\(scene.port.number)\r\nConnection: close\r\n\r\n")

            #expect(response.status == 502)
            #expect(response.field("Proxy-Status")?.contains("tls_certificate_error") == true, "\(response.head)")
            #expect(origin.records.isEmpty)
            let pending = try await scene.layover.waitForPending { _ in true }
            #expect(pending.data.isEmpty)
        }

        private func configuration(_ certificate: String) -> String {
            """
            {"tls":{"caFile":"\(certificate)"},
             "policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}}}}
            """
        }
    }
}
