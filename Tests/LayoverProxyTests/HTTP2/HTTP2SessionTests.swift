import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Connections by HTTP/2 as their clients see them, frame by frame.
struct HTTP2SessionTests {
    private typealias Kind = HTTP2RawClient.Kind

    /// Floods of a client, each a little above its limit.
    private enum Flood: String, CaseIterable, CustomTestStringConvertible {
        case resets, pings, settings, priorities, emptyData, streamErrors, glitch

        var testDescription: String { rawValue }

        func frames(_ client: HTTP2RawClient) throws -> [UInt8] {
            let count = HTTP2Limits.oddityCountMax + 1
            switch self {
            case .resets:
                return try (0..<count).flatMap { index in
                    let stream = UInt32(5 + 2 * index)
                    return try client.head(stream) + HTTP2RawClient.frame(Kind.reset, stream: stream, payload: [0, 0, 0, 8])
                }
            case .pings: return repeated(HTTP2RawClient.frame(Kind.ping, payload: [UInt8](repeating: 1, count: 8)), count)
            case .settings: return repeated(HTTP2RawClient.frame(Kind.settings), count)
            case .priorities: return repeated(HTTP2RawClient.frame(2, stream: 1, payload: [0, 0, 0, 0, 1]), count)
            case .emptyData: return repeated(HTTP2RawClient.frame(Kind.data, stream: 3), 101)
            case .streamErrors:
                // A window that grows by nothing (RFC 9113 section 6.9).
                return try (0..<count).flatMap { index in
                    let stream = UInt32(5 + 2 * index)
                    return try client.head(stream) + HTTP2RawClient.frame(Kind.windowUpdate, stream: stream, payload: [0, 0, 0, 0])
                }
            // FRAME_SIZE_ERROR (RFC 9113 section 4.2).
            case .glitch: return HTTP2RawClient.frame(Kind.settings, payload: [1, 2, 3])
            }
        }

        private func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] { (0..<count).flatMap { _ in bytes } }
    }

    /// Last stream 0 promises that nothing was processed, and a client would send its POST again (RFC 9113 section 6.8).
    @Test(arguments: Flood.allCases) private func endByAFloodNamesTheRequestsThatWereSent(flood: Flood) async throws {
        try await withHTTP2Client { proxy, client in
            try await client.request(1, "POST", "/order", [("content-length", "3")], endsStream: false)
            try await client.data(1, "one")
            let attempt = try await proxy.nextAttempt()
            #expect(try await attempt.wholeBody() == "one")
            try await client.request(3, "POST", "/upload", endsStream: false)
            let upload = try await proxy.nextAttempt()
            #expect(upload.request.target == "/upload")
            try await client.send(flood.frames(client))
            let goaway = try await client.frame(Kind.goaway)
            #expect(goaway.number(at: 4) != 0)
            let last = goaway.number(at: 0)
            #expect(last >= 3 && last < 1 << 30, "streams 1 and 3 were processed: \(last)")
            if flood != .resets, flood != .streamErrors { #expect(last == 3) }
            attempt.respond()
            upload.respond()
        }
    }

    /// The client of a stream has left when its connection has ended: other streams of the connection are the same client's.
    @Test func workerIsNotifiedOnceOfTheEndOfTheConnection() async throws {
        try await withProxy { proxy in
            let client = try await HTTP2RawClient.connect(to: proxy)
            var numbers: [Int?] = []
            for stream in [UInt32(1), 3] {
                try await client.request(stream)
                let attempt = try await proxy.nextAttempt()
                numbers.append(attempt.attempt.client)
                attempt.respond(body: "ok")
                #expect(try await client.body(stream) == "ok")
            }
            let number = try #require(numbers[0])
            #expect(numbers == [number, number])
            try await proxy.settle()
            #expect(!proxy.upstream.record.value.clientsThatLeft.contains(number))
            try await client.close()
            try await proxy.upstream.record.wait("the end of the client") { $0.clientsThatLeft.contains(number) }
            try await proxy.settle()
            #expect(proxy.upstream.record.value.clientsThatLeft.count { $0 == number } == 1)
        }
    }

    /// An attempt that goes on without its client says so, to a worker that has not given it a connection yet.
    @Test func attemptKnowsThatItsClientHasLeft() async throws {
        try await withProxy { proxy in
            let client = try await HTTP2RawClient.connect(to: proxy)
            try await client.request(1, "POST", "/order")
            let attempt = try await proxy.nextAttempt().attempt
            #expect(attempt.presentClient != nil)
            try await client.close()
            try await proxy.upstream.record.wait("the end of the client") { $0.clientsThatLeft.contains(attempt.client ?? 0) }
            #expect(attempt.presentClient == nil)
        }
    }

    @Test func streamsOpenedLaterAreNamedToo() async throws {
        try await withHTTP2Client { proxy, client in
            for stream in stride(from: UInt32(1), through: 9, by: 2) { try await client.request(stream, "POST", "/\(stream)") }
            for _ in 0..<5 { try await proxy.nextAttempt().respond() }
            try await client.send(HTTP2RawClient.frame(Kind.settings, payload: [1]))
            let goaway = try await client.frame(Kind.goaway)
            #expect(goaway.number(at: 0) == 9 && goaway.number(at: 4) == 6)
        }
    }

    /// The client may have sent requests that are on their way: none is refused before it has acknowledged (RFC 9113 section 6.8).
    @Test func stoppingProxyNamesTheHighestNumberFirst() async throws {
        try await withHTTP2Client { proxy, client in
            try await client.request(1)
            let attempt = try await proxy.nextAttempt()
            let drained = Task { await proxy.server.drain(within: .seconds(60)) }
            let first = try await client.frame(Kind.goaway)
            #expect(first.number(at: 0) == 0x7FFF_FFFF && first.number(at: 4) == 0)
            let ping = try await client.frame(Kind.ping)
            try await client.send(HTTP2RawClient.frame(Kind.ping, flags: 1, payload: ping.payload))
            let second = try await client.frame(Kind.goaway)
            #expect(second.number(at: 0) == 1 && second.number(at: 4) == 0)
            attempt.respond(body: "ok")
            #expect(try await client.responseFields(1)[":status"] == ["200"])
            #expect(try await client.ending() == .closed)
            await drained.value
        }
    }
}
