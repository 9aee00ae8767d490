import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The admin API does what `openapi.yaml` says: schemathesis reads the description and sends thousands of requests, valid ones
    /// and others.
    @Suite struct SchemathesisTests {
        private static func configuration(token: String?) -> String {
            """
            {"admin": {"token": \(token.map { "\"\($0)\"" } ?? "null")},
             "policies": {"default": {"holdMax": "50ms", "cache": "staleIfError"},
                          "parked": {"onMaybeApplied": "ask", "delay": {"type": "constant", "every": "1h", "jitter": "none"}}}}
            """
        }

        @Test(arguments: [nil, "schemathesis-token"])
        func everyAnswerIsAsDescribed(token: String?) async throws {
            guard await NetworkPair.isPermitted(orSkip: "schemathesis sends made-up requests") else { return }
            let tools = try await Command(Fixtures.script("python-tools.sh"), ["schemathesis"]).run(within: .seconds(120))
            try #require(tools.status == 0, "schemathesis is not installed: \(tools.errors)")
            // Some of the requests are batches of made-up requests. Nothing leads out of here.
            try await NetworkPair.with { network in
                try await run(tools.output.trimmingCharacters(in: .whitespacesAndNewlines), token: token, in: network.name(.near))
            }
        }

        private func run(_ python: String, token: String?, in namespace: String) async throws {
            let layover = try await RunningLayover.start(Self.configuration(token: token), namespace: namespace)
            let ticket = try await layover.curl(
                "--header", "Prefer: respond-async, wait=0", "--header", "Layover-Policy: parked", "http://parked.invalid/order").run()
            try #require(ticket.status == 0, "\(ticket)")

            let folder = Fixtures.path("schemathesis")
            var arguments = ["--config-file", "\(folder)/schemathesis.toml", "run", "\(layover.adminURL)/openapi.yaml", "--no-color"]
            if let token { arguments += ["--header", "Authorization: Bearer \(token)"] }
            let environment = [
                "LAYOVER_HOOKS": "\(folder)/hooks.py", "LAYOVER_ADMIN_URL": layover.adminURL, "LAYOVER_PROXY_URL": layover.proxyURL,
                "LAYOVER_TOKEN": token ?? "", "PYTHONDONTWRITEBYTECODE": "1",
            ]
            let result = try await Command("\(python)/bin/schemathesis", arguments).with(environment).within(namespace)
                .run(within: .seconds(600))
            #expect(result.status == 0, "\(result.output.suffix(12_000))\(result.errors)")
            #expect(result.output.contains("Stateful"), "it ran to its end")
            #expect(!layover.process.hasEnded)
        }
    }
}
