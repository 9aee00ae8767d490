import LayoverTestSupport
import Testing

extension EndToEnd {
    /// An origin that understands `Prefer: respond-async` itself, as FHIR bulk exports and OData services do.
    @Suite struct AsyncOrigin {
        private static func origin() throws -> MisbehavingOrigin {
            try MisbehavingOrigin { connection in
                while let (head, _) = connection.readRequest() {
                    let isAsync = head.lowercased().contains("\r\nprefer: respond-async\r\n")
                    connection.answer(
                        "", status: isAsync ? "202 Accepted" : "400 Bad Request",
                        fields: "Content-Location: http://fhir.example/status/1\r\n")
                }
            }
        }

        @Test func originThatUnderstandsThePreferenceGetsItAndAnswers() async throws {
            let layover = try await RunningLayover.start()
            let origin = try Self.origin()
            defer { origin.stop() }
            let response = try await layover.exchange(
                "GET http://127.0.0.1:\(origin.port)/Patient/$export HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"
                    + "Prefer: respond-async\r\nConnection: close\r\n\r\n")
            #expect(response.status == 202)
            #expect(response.field("Content-Location") == "http://fhir.example/status/1")
            #expect(response.field("Location") == nil && response.field("Preference-Applied") == nil)
            #expect(origin.count(of: "Prefer: respond-async") == 1)
            #expect(try await layover.waitForPending("nothing is pending") { $0.data.isEmpty }.data.isEmpty)
        }

        @Test func ticketIsMadeWhileTheOriginIsAway() async throws {
            let scene = try await Scene()
            let response = try await scene.send("POST", "/echo?export", ["Prefer: respond-async"])
            #expect(response.status == 202)
            #expect(response.field("Preference-Applied") == "respond-async")
            let ticket = try #require(response.ticket)
            let origin = try await scene.startOrigin()
            #expect(try await scene.layover.ticket(ticket, wait: 20).state == "delivered")
            #expect(origin.requests == ["POST /echo?export"])
        }
    }
}
