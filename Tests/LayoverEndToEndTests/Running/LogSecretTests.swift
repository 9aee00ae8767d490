import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// No secret of a real run is in its log at the most detailed level.
    @Suite struct LogSecrets {
        /// One for each place that a configuration or a request has for a secret.
        private static let configuration = """
            {
              "admin": { "token": "hush-admin-token" },
              "log": { "level": "trace", "format": "text" },
              "reachability": { "probe": { "url": "http://me:hush-probe@127.0.0.1:9/?key=hush-probe-query" } },
              "policies": {
                "default": { "delay": { "type": "constant", "every": "100ms", "jitter": "none" } },
                "standing": {
                  "automaticAttemptsMax": 1,
                  "onExhausted": { "status": 200, "fields": { "Set-Cookie": "hush-stand-in" }, "body": "" }
                }
              },
              "routes": {
                "api": {
                  "host": "127.0.0.1", "policy": "standing",
                  "setFields": { "Authorization": "Bearer hush-set-field", "X-Own": "hush-own-field" },
                  "addFields": { "Cookie": "hush-added-field" }
                },
                "keyed": { "upstream": "http://127.0.0.1:9", "key": "hush-route-key" }
              }
            }
            """

        private func send(_ layover: RunningLayover, port: Int) async throws -> PlainResponse {
            try await layover.exchange(
                """
                POST http://127.0.0.1:\(port)/visible-path?key=hush-query HTTP/1.1\r
                Host: 127.0.0.1:\(port)\r
                Authorization: Bearer hush-authorization\r
                Cookie: hush-cookie\r
                Proxy-Authorization: Basic hush-proxy-authorization\r
                Idempotency-Key: hush-idempotency-key\r
                Prefer: respond-async, wait=0\r
                Content-Length: 9\r
                Connection: close\r
                \r
                hush-body
                """)
        }

        @Test func noSecretIsInATraceLog() async throws {
            let layover = try await RunningLayover.start(Self.configuration)
            let refusing = try ReservedPort()
            #expect(try await send(layover, port: refusing.number).status == 202)
            let token = ["LAYOVER_TOKEN": "hush-admin-token"]
            for words in [["status"], ["pending"], ["config", "show", "--running"], ["reload"]] {
                var command = layover.command().with(token)
                command.arguments = words
                #expect(try await command.run().status == 0, "\(words)")
            }
            let wrong = layover.command("status", "--token", "hush-wrong-token")
            #expect(try await wrong.run().status != 0)
            #expect(await layover.stop().status == 0)
            let log = layover.process.errors
            #expect(log.contains(" trace "))
            #expect(log.contains("configuration reloaded"))
            #expect(log.matches(of: /hush-[a-z-]+/).map { String($0.output) } == [])
        }

        @Test func generatedKeysAreNotInTheLog() async throws {
            let layover = try await RunningLayover.start(
                #"{"log": {"level": "trace", "format": "json"}, "store": {"path": "layover.sqlite"}}"#)
            let refusing = try ReservedPort()
            let accepted = try await send(layover, port: refusing.number)
            #expect(accepted.status == 202)
            let ticket = try #require(accepted.field("Location")?.split(separator: "/").last)
            let made = (layover.folder.text(of: "admin-token") + " " + layover.folder.text(of: "store.key"))
                .split { $0.isWhitespace }.map(String.init).filter { $0.count >= 32 }
            #expect(made.count == 2)
            #expect(await layover.stop().status == 0)
            let log = layover.process.errors
            #expect(log.contains(#""level":"trace""#))
            for key in made { #expect(!log.contains(key)) }
            #expect(ticket.count == 32 && !log.contains(ticket))
            #expect(!log.contains("hush-"))
        }
    }
}
