import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Why a ticket is where it is, as `GET /v1/pending/{id}/explain` tells it.
    @Suite struct Explaining {
        private struct Explained: Decodable {
            struct Attempt: Decodable {
                var verdict: String?
                var rule: String?
                var text: String?
                var status: Int?
                var evidence: String?
            }

            struct Now: Decodable {
                var state: String
                var text: String
            }

            var attempts: [Attempt]
            var now: Now
        }

        private func explain(_ ticket: String, _ scene: Scene) async throws -> Explained {
            let response = try await scene.layover.call("GET", "/v1/pending/\(ticket)/explain")
            #expect(response.status == 200)
            return try JSONDecoder().decode(Explained.self, from: response.body)
        }

        private func preflight(_ keys: String) -> String {
            #"{"policies":{"default":{"preflight":{"method":"HEAD",\#(keys)}}}}"#
        }

        @Test(arguments: [
            (#""dropOn":["404"],"askOn":[]"#, "cancelled", "Cancelled by the preflight at "),
            (#""dropOn":[],"askOn":["404"]"#, "undecided", "The request was not sent. Decide with"),
        ])
        func failedPreflightNamesTheRule(keys: String, state: String, words: String) async throws {
            let (scene, origin) = try await Scene.withOrigin(preflight(keys))
            let ticket = try await scene.submit("/gone", method: "PUT")
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == state)
            let explained = try await explain(ticket, scene)
            let attempt = try #require(explained.attempts.last)
            #expect(attempt.rule == "preflight")
            #expect(attempt.evidence == "neverSent")
            #expect(attempt.text == "Not sent: the response to the preflight forbids it.")
            #expect(explained.now.state == state)
            #expect(explained.now.text.hasPrefix(words), "\(explained.now.text)")
            #expect(explained.now.text.contains("The preflight was answered with status 404."))
            #expect(origin.requests == ["HEAD /gone"])
        }

        @Test func brokenOffResponseNamesTheRule() async throws {
            let (scene, origin) = try await Scene.withOrigin(RunningLayover.noTimedRetries)
            let ticket = try await scene.submit("/stalled/1000000")
            _ = try await origin.waitForRecord("half of the answer was sent") { $0.event == "stalled" }
            await origin.kill()
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            #expect(try await scene.layover.ticketResponse(ticket).text.contains(#""kind":"answer_broke_off""#))
            let explained = try await explain(ticket, scene)
            let attempt = try #require(explained.attempts.last)
            #expect(explained.attempts.count == 1)
            #expect(attempt.verdict == "deliver")
            #expect(attempt.rule == "notRepeatable")
            #expect(attempt.status == 200)
            #expect(attempt.text?.hasPrefix("The response was cut off. Its status and fields are stored") == true)
            #expect(explained.now.text.contains("but was cut off: status and fields are stored, the body is not."))
        }
    }
}
