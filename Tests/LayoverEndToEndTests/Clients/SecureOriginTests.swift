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

        private func configuration(_ certificate: String) -> String {
            """
            {"tls":{"caFile":"\(certificate)"},
             "policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}}}}
            """
        }
    }
}
