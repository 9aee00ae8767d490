import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// S4d: several requests merged into one result, by the real binary.
    @Suite struct BatchTests {
        private struct Answer: Decodable {
            struct Item: Decodable {
                struct Problem: Decodable {
                    var kind: String?
                    var status: Int
                }

                var status: Int?
                var body: String?
                var problem: Problem?
            }

            var data: [Item]
        }

        @Test func batchWaitsOutAnOutageAndEachRequestHasItsOutcome() async throws {
            let scene = try await Scene(
                #"{"policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}},"brief":{"holdMax":"1s"}}}"#)
            let closed = try ReservedPort()
            let body = """
                {"requests": [
                  {"url": "\(scene.url("/echo?1"))"},
                  {"method": "POST", "url": "\(scene.url("/echo?2"))", "body": "order=1", "fields": {"Content-Type": "text/plain"}},
                  {"url": "http://127.0.0.1:\(closed.number)/", "fields": {"Layover-Policy": "brief"}},
                  {"url": "http://127.0.0.1:\(scene.layover.admin.port)/v1/pending"}]}
                """
            let layover = scene.layover
            async let answering = layover.call("POST", "/v1/batch", json: body)
            try await scene.layover.waitForPending("the requests wait") { $0.waitingCount >= 2 }
            let origin = try await scene.startOrigin()
            let response = try await answering
            #expect(response.status == 200)
            let items = try JSONDecoder().decode(Answer.self, from: response.body).data
            #expect(items.map(\.status) == [200, 200, nil, nil])
            #expect(items[2].problem?.status == 504, "its policy does not let it wait longer")
            #expect(items[3].problem?.status == 403 || items[3].problem?.status == 502, "no way into the admin port")
            #expect(origin.records.map(\.target).sorted() == ["/echo?1", "/echo?2"], "each is sent once")
            #expect(origin.records.first { $0.method == "POST" }?.length == 7)
        }
    }
}
