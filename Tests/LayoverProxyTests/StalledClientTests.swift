import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// A client that takes its response slowly, or not at all.
struct StalledClientTests {
    private static let stallMax = Duration.seconds(3600)
    private static let byteCount = 16 << 20

    /// A client that does not read, and more of a response than the kernel takes for it.
    private static func stalled(
        _ proxy: TestProxy, isComplete: Bool
    ) async throws -> (RawClient, ScriptedAttempt) {
        let client = try await proxy.connect(readsByItself: false, receiveBuffer: 65_536)
        try await client.send(.get("/"))
        let attempt = try await proxy.nextAttempt()
        attempt.sendHead(200, ["Content-Length: \(byteCount)"])
        for _ in 0..<(isComplete ? 16 : 15) { attempt.sendBody(String(repeating: "x", count: 1 << 20)) }
        if isComplete { attempt.finish() }
        try await proxy.settle()
        return (client, attempt)
    }

    @Test(arguments: [true, false])
    func clientThatReadsNothingIsCutOff(isComplete: Bool) async throws {
        try await withProxy(ticks: false, configuration: { $0.clientStallTimeout = Self.stallMax }) { proxy in
            let (client, attempt) = try await Self.stalled(proxy, isComplete: isComplete)
            try await proxy.tick(in: .seconds(3500))
            #expect(proxy.openConnectionCount() == 1)
            // The kernel may take a little more at first, which counts as progress.
            try await eventually("the connection to close") {
                try await proxy.tick(in: .seconds(3700))
                return proxy.openConnectionCount() == 0
            }
            #expect(try await client.ending().0 == .reset, "no client may take a part for the whole")
            #expect(client.received.value.totalCount < Self.byteCount)
            if !isComplete { try await attempt.seen.wait("the transfer to be cancelled") { $0.isCancelled } }
        }
    }

    @Test(arguments: [true, false])
    func clientThatReadsSlowlyIsNotCutOff(isComplete: Bool) async throws {
        try await withProxy(
            ticks: false, configuration: { ($0.clientStallTimeout, $0.clientIdleTimeout) = (Self.stallMax, .seconds(60)) }
        ) { proxy in
            let (client, attempt) = try await Self.stalled(proxy, isComplete: isComplete)
            try await proxy.tick(in: .seconds(1))
            for _ in 0..<2 {
                try await Self.takeALittle(client, proxy)
                try await proxy.tick(in: .seconds(3700))
                #expect(proxy.openConnectionCount() == 1)
            }
            // The connection does not count as idle while the rest of its response waits for the client.
            try await proxy.tick(in: .seconds(100))
            #expect(proxy.openConnectionCount() == 1)
            if !isComplete {
                attempt.sendBody(String(repeating: "x", count: 1 << 20))
                attempt.finish()
            }
            try await client.startReading()
            #expect(try await client.answer(after: Self.byteCount).body.utf8.count == Self.byteCount)
        }
    }

    /// As much comes from the origin as the client takes: what waits for it stays the same.
    @Test func clientThatTakesWhatComesIsNotCutOff() async throws {
        try await withProxy(ticks: false, configuration: { $0.clientStallTimeout = Self.stallMax }) { proxy in
            let (client, attempt) = try await Self.stalled(proxy, isComplete: false)
            try await proxy.tick(in: .seconds(1))
            let before = try await Self.untakenByteCount(proxy)
            try await Self.takeALittle(client, proxy)
            // Its kernel may take more a moment later.
            try await eventually("as many bytes to wait as before") {
                let missing = before - (try await Self.untakenByteCount(proxy))
                guard missing > 0 else { return missing == 0 }
                attempt.sendBody(String(repeating: "x", count: missing))
                try await proxy.settle()
                return false
            }
            try await proxy.tick(in: .seconds(3700))
            #expect(proxy.openConnectionCount() == 1)
        }
    }

    /// Reads until the proxy could write more.
    private static func takeALittle(_ client: RawClient, _ proxy: TestProxy) async throws {
        let before = try await untakenByteCount(proxy)
        try await eventually("bytes to leave") {
            client.readOnce()
            try await proxy.settle()
            return try await untakenByteCount(proxy) != before
        }
    }

    /// Bytes of the response that wait for the client.
    private static func untakenByteCount(_ proxy: TestProxy) async throws -> Int {
        let loop = proxy.loop
        return try await loop.eventLoop.submit { loop.connections.untakenByteCount }.get()
    }
}
