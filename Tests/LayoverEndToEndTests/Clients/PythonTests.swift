import LayoverTestSupport
import Testing

extension EndToEnd {
    @Suite struct Python {
        /// Prints the status and what arrived at the origin. Both libraries read `http_proxy` by themselves.
        private static let programs = [
            "urllib": """
                import sys, urllib.request
                with urllib.request.urlopen(sys.argv[1], data=b"order=1") as answer:
                    print(answer.status, answer.read().decode())
                """,
            "requests": """
                import sys, requests
                answer = requests.post(sys.argv[1], data=b"order=1")
                print(answer.status_code, answer.text)
                """,
        ]

        @Test(arguments: ["urllib", "requests"], OriginTiming.allCases)
        func aPostIsAnswered(library: String, timing: OriginTiming) async throws {
            let scene = try await Scene()
            let program = try #require(Self.programs[library])
            let (result, records) = try await scene.run(
                scene.layover.client("/usr/bin/python3", "-c", program, scene.url("/echo")), origin: timing)

            #expect(result.output.hasPrefix("200 "), "\(result)")
            #expect(records.map(\.length) == [7])
        }

        @Test(arguments: OriginTiming.allCases)
        func requestsReachesATLSOriginThroughATunnel(timing: OriginTiming) async throws {
            let scene = try await Scene()
            let authority = try await TestAuthority(in: scene.root)
            let program = "import sys, requests; print(requests.get(sys.argv[1], verify=sys.argv[2]).status_code)"
            let (result, _) = try await scene.run(
                scene.layover.client(
                    "/usr/bin/python3", "-c", program, scene.secureURL("/echo"), authority.certificate),
                origin: timing, identity: authority.identity)

            #expect(result.output == "200\n", "\(result)")
        }
    }
}
