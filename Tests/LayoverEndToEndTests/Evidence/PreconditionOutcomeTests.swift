import Foundation
import LayoverTestSupport
import Synchronization
import Testing

extension EndToEnd {
    /// A store with conditional writes, as table formats use them: the first PUT creates its target, and its response is lost.
    @Suite struct PreconditionOutcome {
        /// Applies what it is sent by the rules of `If-None-Match: *`, and breaks the connection of the first PUT behind the change.
        private final class Store: Sendable {
            private struct Content {
                var body: [UInt8]?
                var requestCount = 0
            }

            private let content = Mutex(Content())

            var requestCount: Int { content.withLock { $0.requestCount } }
            var text: String? { content.withLock { $0.body }.map { String(decoding: $0, as: UTF8.self) } }

            /// - Returns: The status; nil: the response is lost.
            func put(_ body: [UInt8], isConditional: Bool) -> String? {
                content.withLock { content in
                    content.requestCount += 1
                    if isConditional, content.body != nil { return "412 Precondition Failed" }
                    content.body = body
                    return content.requestCount == 1 ? nil : "200 OK"
                }
            }
        }

        private func origin(_ store: Store) throws -> MisbehavingOrigin {
            try MisbehavingOrigin { connection in
                while let (head, body) = connection.readRequest() {
                    let isConditional = head.lowercased().contains("\r\nif-none-match: *")
                    guard let status = store.put(body, isConditional: isConditional) else { return connection.reset() }
                    connection.answer("", status: status)
                }
            }
        }

        private static func put(_ port: Int, _ fields: String...) -> String {
            "PUT http://127.0.0.1:\(port)/v2.json HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\nContent-Length: 3\r\n"
                + fields.map { $0 + "\r\n" }.joined() + "\r\nabc"
        }

        /// The client must not read "another writer has won", and delete what it wrote.
        @Test func appliedPutIsNeverReportedAsRefused() async throws {
            let layover = try await RunningLayover.start()
            let store = Store()
            let origin = try origin(store)
            defer { origin.stop() }
            let response = try await layover.exchange(Self.put(origin.port, "If-None-Match: *"))
            #expect(response.status == 502, "\(response.text)")
            #expect(response.text.contains(#""kind":"outcome_unknown""#) && response.text.contains(#""receivedStatus":412"#))
            #expect(store.requestCount == 2, "PUT is idempotent, so it is repeated once")
            #expect(store.text == "abc")
        }

        @Test func policyWithAskLetsAPersonDecide() async throws {
            let layover = try await RunningLayover.start(
                #"{"policies":{"default":{"onMaybeApplied":"ask","delay":{"type":"constant","every":"100ms","jitter":"none"}}}}"#)
            let store = Store()
            let origin = try origin(store)
            defer { origin.stop() }
            async let response = layover.exchange(Self.put(origin.port, "If-None-Match: *"))
            let listing = try await layover.waitForPending("it is undecided") { $0.data.first?.state == "undecided" }
            let entry = try #require(listing.data.first)
            #expect(entry.why == "maybeApplied")
            #expect(try await layover.call("POST", "/v1/pending/\(entry.id)/settle", json: "{}").status == 200)
            #expect(try await response.text.contains(#""kind":"settled""#))
            #expect(store.requestCount == 2)
        }

        @Test func unconditionalPutIsRepeatedAndAnswered() async throws {
            let layover = try await RunningLayover.start()
            let store = Store()
            let origin = try origin(store)
            defer { origin.stop() }
            #expect(try await layover.exchange(Self.put(origin.port)).status == 200)
            #expect(store.requestCount == 2)
        }

        /// An empty key identifies no request, so the POST is sent once.
        @Test func postWithAnEmptyKeyIsSentOnce() async throws {
            let layover = try await RunningLayover.start()
            let store = Store()
            let origin = try origin(store)
            defer { origin.stop() }
            let request = Self.put(origin.port, "Idempotency-Key:").replacing("PUT ", with: "POST ")
            let response = try await layover.exchange(request)
            #expect(response.status == 502 && response.text.contains("maybeApplied"))
            #expect(store.requestCount == 1)
        }
    }
}
