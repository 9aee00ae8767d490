import LayoverEngine
import LayoverTestSupport
import Testing

/// Raw bytes in, and what the upstream got. A status alone proves nothing: what counts is what was sent on.
struct HazardTests {
    private static let rows = HazardRow.framing + HazardRow.heads

    @Test func hazardTableHasEnoughRowsWithUniqueNames() {
        #expect(Self.rows.count >= 150)
        let names = Self.rows.map(\.name)
        #expect(Set(names).count == names.count, "\(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys)")
    }

    @Test(arguments: rows)
    func upstreamGetsTheExpectedRequest(row: HazardRow) async throws {
        try await judge(row, inPiecesOf: .max)
    }

    /// The same, in pieces: where the bytes are cut must not matter.
    @Test(arguments: rows.filter { $0.bytes.utf8.count < 2000 })
    func upstreamGetsTheExpectedRequestFromSplitBytes(row: HazardRow) async throws {
        try await judge(row, inPiecesOf: 7)
    }

    private func judge(_ row: HazardRow, inPiecesOf size: Int) async throws {
        try await withProxy(script: { $0.respondOnceSent(200, ["Content-Length: 2"], body: "ok") }) { proxy in
            let client = try await proxy.connect()
            var rest = row.bytes.latin1[...]
            while !rest.isEmpty {
                client.sendWithoutWaiting(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                if size < .max { try await proxy.settle() }
            }
            switch row.outcome {
            case .refused(let statuses):
                try await Self.expectRefusal(client, statuses)
                #expect(proxy.upstream.startedCount == 0)
            case .brokenOff:
                try await Self.expectNoAnswerFromUpstream(client)
                try await Self.expectBrokenOff(proxy)
            case .passed(let requests):
                try await Self.expectPassed(proxy, client, requests)
                try await client.closeOutput()
                #expect(try await client.ending().rest == "", "as many answers as requests")
            case .passedThenRefused(let requests, let statuses):
                try await Self.expectPassed(proxy, client, requests)
                try await Self.expectRefusal(client, statuses)
            }
            let smuggled = proxy.upstream.record.value.unclaimed.filter { $0.request.target == "/smuggled" }
            #expect(smuggled.isEmpty, "a second request came out of the first")
            #expect(await proxy.engine.liveEntries().isEmpty, "what the client did wrong is never parked")
        }
    }

    private static func expectRefusal(_ client: RawClient, _ statuses: [Int]) async throws {
        let response = try await client.answer()
        #expect(statuses.contains(response.status), "\(response.statusLine)")
        #expect(response["Connection"] == "close")
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(try await client.ending().rest == "", "one answer, then the close")
    }

    /// The upstream answers only what is complete, so a response of its own would be wrong here.
    private static func expectNoAnswerFromUpstream(_ client: RawClient) async throws {
        let (_, rest) = try await client.ending()
        #expect(rest.hasPrefix("HTTP/1.1 400 "))
        #expect(!rest.contains("HTTP/1.1 200"))
    }

    private static func expectBrokenOff(_ proxy: TestProxy) async throws {
        #expect(proxy.upstream.startedCount == 1)
        let attempt = try await proxy.nextAttempt()
        try await attempt.seen.wait("the end of the attempt") { $0.isOver }
        #expect(attempt.seen.value.sendingEnd != .end, "half a body must not be taken for a whole one")
    }

    private static func expectPassed(
        _ proxy: TestProxy, _ client: RawClient, _ requests: [String]
    ) async throws {
        for expected in requests {
            let attempt = try await proxy.nextAttempt(expected)
            let response = try await client.answer(toHead: attempt.request.method == "HEAD")
            #expect(response.status == 200 || response.status == 100)
            let request = attempt.request
            let body = String(decoding: attempt.seen.value.sent, as: UTF8.self)
            #expect("\(request.method) \(request.target) \(request.host)|\(body)" == expected)
        }
        #expect(proxy.upstream.startedCount == requests.count)
    }
}
