import Foundation
import NIOCore
import Synchronization
import Testing

@testable import LayoverAdmin

/// `POST /v1/batch`: several requests, one answer.
struct BatchRoutesTests {
    @Test func outcomesStandInTheOrderOfTheRequests() async throws {
        let atOnce = Mutex((now: 0, most: 0))
        let send: @Sendable (BatchItem) async -> BatchOutcome = { item in
            atOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            // Others may overtake it.
            for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
            atOnce.withLock { $0.now -= 1 }
            return .response(status: 200, fields: [("X-Method", item.method)], body: ByteBuffer(string: item.url))
        }
        let harness = AdminHarness(sources: { $0.send = send })
        let requests = (1...20).map { "{\"url\":\"http://a.example/\($0)\"}" }.joined(separator: ",")
        let response = try await harness.post("/v1/batch", "{\"requests\":[\(requests)],\"concurrency\":3}")
        #expect(response.status == 200 && response.json["atomic"] as? Bool == false)
        #expect(response.data.map { $0["body"] as? String } == (1...20).map { "http://a.example/\($0)" })
        #expect(response.data.first?["fields"] as? [String: String] == ["x-method": "GET"])
        #expect(atOnce.withLock { $0.most } <= 3)
    }

    @Test func bodiesGoInBothEncodings() async throws {
        let bytes: [UInt8] = [0, 0xFF, 0x80]
        let harness = AdminHarness(sources: { $0.send = { .response(status: 201, fields: [], body: $0.body ?? ByteBuffer()) } })
        let response = try await harness.post(
            "/v1/batch",
            """
            {"requests":[{"method":"POST","url":"http://a.example/","body":"ü"},
                         {"method":"POST","url":"http://a.example/","body":"\(Data(bytes).base64EncodedString())","bodyEncoding":"base64"}]}
            """)
        #expect(response.data.map { $0["bodyEncoding"] as? String } == ["utf8", "base64"])
        #expect(response.data.map { $0["body"] as? String } == ["ü", Data(bytes).base64EncodedString()])
    }

    @Test func problemsOfLayoverAndOfTheOriginAreDistinguished() async throws {
        let problems = ["urn:layover:problem:upstream", "about:blank"]
        let harness = AdminHarness(
            sources: {
                $0.send = { item in
                    let type = item.url.hasSuffix("/0") ? problems[0] : problems[1]
                    return .response(
                        status: 502, fields: [("Content-Type", "application/problem+json")],
                        body: ByteBuffer(string: "{\"type\":\"\(type)\",\"status\":502}"))
                }
            }
        )
        let response = try await harness.post(
            "/v1/batch", #"{"requests":[{"url":"http://a.example/0"},{"url":"http://a.example/1"}]}"#)
        #expect((response.data[0]["problem"] as? [String: Any])?["type"] as? String == problems[0])
        #expect(response.data[0]["status"] == nil)
        #expect(response.data[1]["status"] as? Int == 502 && response.data[1]["problem"] == nil)
    }

    @Test(arguments: [
        "{}", #"{"requests":[]}"#, #"{"requests":[{}]}"#, #"{"requests":[{"url":"/cart"}]}"#, #"{"requests":[{"url":"ftp://a/"}]}"#,
        #"{"requests":[{"url":"http://a/ b"}]}"#, #"{"requests":[{"url":"http://a/","method":"GE T"}]}"#,
        #"{"requests":[{"url":"http://a/","method":"CONNECT"}]}"#, #"{"requests":[{"url":"http://a/","fields":{"Host":"b"}}]}"#,
        #"{"requests":[{"url":"http://a/","fields":{"transfer-encoding":"chunked"}}]}"#,
        #"{"requests":[{"url":"http://a/","fields":{"X":"a\r\nY: b"}}]}"#, #"{"requests":[{"url":"http://a/","fields":{"X Y":"a"}}]}"#,
        #"{"requests":[{"url":"http://a/","body":"?","bodyEncoding":"base64"}]}"#,
        #"{"requests":[{"url":"http://a/","bodyEncoding":"x"}]}"#,
        #"{"requests":[{"url":"http://a/"}],"concurrency":0}"#, #"{"requests":[{"url":"http://a/"}],"concurrency":33}"#,
        #"{"requests":[{"url":"http://a/","key":1}]}"#,
    ])
    func invalidBatchIsRefusedAndNothingIsSent(body: String) async throws {
        let count = Mutex(0)
        let harness = AdminHarness(
            sources: {
                $0.send = { _ in
                    count.withLock { $0 += 1 }
                    return .response(status: 200, fields: [], body: ByteBuffer())
                }
            }
        )
        #expect(try await harness.post("/v1/batch", body).status == 400)
        #expect(count.withLock { $0 } == 0)
    }

    @Test func tooManyRequestsAreRefused() async throws {
        let harness = AdminHarness(sources: { $0.send = { _ in .response(status: 200, fields: [], body: ByteBuffer()) } })
        for (count, status) in [(100, 200), (101, 400)] {
            let requests = Array(repeating: #"{"url":"http://a/"}"#, count: count).joined(separator: ",")
            #expect(try await harness.post("/v1/batch", "{\"requests\":[\(requests)]}").status == status)
        }
    }
}
