import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Requests that may have been applied and must not be sent twice, against origins that break in every way.
    ///
    /// The results make the table of `docs/maybe-applied.md`; to update it run this suite with `UPDATE_DOCS=1`.
    @Suite struct MaybeApplied {
        struct Result: Sendable {
            var received: Int
            var reused: Bool
            var status: Int?
            var evidence: String?
            var isCutOff: Bool
        }

        /// Of the origins only the one that stalls takes as long as `firstByte`. A busy machine must not take the others for it.
        static let configuration = """
            {
              "proxy": { "threads": 1 },
              "timeouts": { "firstByte": "6s" },
              "policies": {
                "default": { "delay": { "type": "constant", "every": "10ms", "jitter": "none" } },
                "asks": { "onMaybeApplied": "ask" }
              }
            }
            """

        @Test func unrepeatableRequestsAreNeverSentTwice() async throws {
            let layover = try await RunningLayover.start(Self.configuration)
            var results: [TroubleCase: Result] = [:]
            for cases in Self.portions(of: TroubleCase.all, count: 32) {
                try await withThrowingTaskGroup(of: (TroubleCase, Result).self) { group in
                    for trouble in cases { group.addTask { (trouble, try await Self.run(trouble, through: layover)) } }
                    for try await (trouble, result) in group { results[trouble] = result }
                }
            }
            for trouble in TroubleCase.all { try Self.check(#require(results[trouble]), of: trouble) }
            try Self.compareWithDocumentation(results)
        }

        /// The cases that run at the same time: all of one kind of trouble, so that those that wait for a deadline wait together.
        private static func portions(of cases: [TroubleCase], count: Int) -> [[TroubleCase]] {
            stride(from: 0, to: cases.count, by: count).map { Array(cases[$0..<min($0 + count, cases.count)]) }
        }

        private static func run(_ trouble: TroubleCase, through layover: RunningLayover) async throws -> Result {
            let origin = try trouble.origin()
            defer { origin.stop() }
            if trouble.offersReuse {
                let warm =
                    "GET http://127.0.0.1:\(origin.port)/warm HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n"
                _ = try await layover.exchange(warm)
                // The response comes before the close, and a request that comes in between would be lost with the connection.
                if trouble.trouble == .closesIdle {
                    try await eventually("the connection is closed") { origin.connections.first?.isClosed == true }
                }
            }
            let port = layover.proxyPort
            let request = trouble.request(port: origin.port)
            let bytes = try await onOwnThread {
                let connection = try RawConnection(port: port)
                try connection.send(request)
                return try connection.receiveAll(within: .seconds(60))
            }
            let response = try? PlainResponse(bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            return Result(
                received: origin.count(of: " /case "),
                reused: origin.connections.contains { $0.receivedText.contains(" /warm ") && $0.receivedText.contains(" /case ") },
                status: response?.status, evidence: text.contains("maybeApplied") ? "maybeApplied" : nil,
                isCutOff: text.hasSuffix("half"))
        }

        private static func check(_ result: Result, of trouble: TroubleCase) {
            switch trouble.trouble {
            case .diesInBody:
                #expect(result.received == 1, "\(trouble): the head was delivered, there is no going back")
                #expect(result.isCutOff, "\(trouble)")
            case .closesIdle:
                #expect(result.received == 1, "\(trouble): \(result)")
                #expect(result.status == 200, "\(trouble): nothing was wrong but the idle connection")
            case _ where trouble.isRepeatable:
                #expect(result.received == 2, "\(trouble): \(result)")
                #expect(result.status == 200, "\(trouble): \(result)")
            default:
                #expect(result.received == 1, "\(trouble): \(result)")
                #expect(result.status == (trouble.trouble == .stalls ? 504 : 502), "\(trouble): \(result)")
                #expect(result.evidence == "maybeApplied", "\(trouble): \(result)")
            }
        }

        // MARK: Undecided

        /// With `onMaybeApplied: ask` the client stays connected while a person decides.
        @Test func requestWithAskIsUndecidedAndResentOnlyByForce() async throws {
            let layover = try await RunningLayover.start(Self.configuration)
            let cases = TroubleCase.all.filter {
                !$0.isRepeatable && $0.trouble != .diesInBody && $0.trouble != .closesIdle
            }
            #expect(cases.count == 32)
            for portion in Self.portions(of: cases, count: 8) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for trouble in portion { group.addTask { try await Self.decide(trouble, through: layover) } }
                    try await group.waitForAll()
                }
            }
        }

        private static func decide(_ trouble: TroubleCase, through layover: RunningLayover) async throws {
            let origin = try trouble.origin()
            defer { origin.stop() }
            let request = trouble.request(port: origin.port, "Layover-Policy: asks")
            async let response = layover.exchange(request, within: .seconds(90))
            let url = ":\(origin.port)/case"
            let listing = try await layover.waitForPending("\(trouble) is undecided", within: .seconds(45)) { listing in
                listing.data.contains { $0.url.hasSuffix(url) && $0.state == "undecided" }
            }
            let entry = try #require(listing.data.first { $0.url.hasSuffix(url) })
            #expect(entry.why == "maybeApplied")
            #expect(try await layover.call("POST", "/v1/pending/\(entry.id)/retry").status == 409)
            #expect((400..<500).contains(try await layover.call("POST", "/v1/pending/\(entry.id)/force").status))
            #expect(origin.count(of: " /case ") == 1, "\(trouble)")
            let forced = try await layover.call(
                "POST", "/v1/pending/\(entry.id)/force", json: #"{"acknowledge":"duplicate-risk"}"#)
            #expect(forced.status == 200)
            #expect(try await response.text == "done", "\(trouble)")
            #expect(origin.count(of: " /case ") == 2, "\(trouble)")
        }

        // MARK: The table

        private static func compareWithDocumentation(_ results: [TroubleCase: Result]) throws {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/maybe-applied.md")
            let document = try String(contentsOf: file, encoding: .utf8)
            let begin = try #require(document.range(of: "<!-- results: begin -->\n"))
            let end = try #require(document.range(of: "<!-- results: end -->"))
            let expected = table(results)
            guard document[begin.upperBound..<end.lowerBound] != expected else { return }
            if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
                let updated = document[..<begin.upperBound] + expected + document[end.lowerBound...]
                try String(updated).write(to: file, atomically: true, encoding: .utf8)
            } else {
                Issue.record("docs/maybe-applied.md is behind the results; run this test with UPDATE_DOCS=1")
            }
        }

        /// A row for each kind of trouble and request; what does not depend on the body is said once.
        private static func table(_ results: [TroubleCase: Result]) -> String {
            var rows =
                "| the origin … | method | body | Idempotency-Key | earlier connection | sent on it | origin received | client got |\n"
            rows += "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            for trouble in TroubleCase.all {
                guard let result = results[trouble] else { continue }
                let cells = [
                    trouble.trouble.rawValue, trouble.method, trouble.hasBody ? "yes" : "no",
                    trouble.hasKey ? "yes" : "no", trouble.offersReuse ? "yes" : "no",
                    result.reused ? "yes" : "no", result.received == 1 ? "once" : "twice", words(result),
                ]
                rows += "| \(cells.joined(separator: " | ")) |\n"
            }
            return rows
        }

        private static func words(_ result: Result) -> String {
            if result.isCutOff { return "a response that is cut off" }
            guard let status = result.status else { return "nothing" }
            return status == 200 ? "200" : "\(status), `\(result.evidence ?? "neverSent")`"
        }
    }
}
