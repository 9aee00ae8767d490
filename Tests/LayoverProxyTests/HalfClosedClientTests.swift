import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// A client that has closed its sending side: it may be gone, or wait for its response.
struct HalfClosedClientTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func isGone(
        _ client: inout HalfClosedClient, after seconds: Int64, taken: Int = 0, _ peer: PeerSocket.State
    ) -> Bool {
        client.isGone(at: start + .seconds(seconds), takenByteCount: taken, limit: .seconds(30)) { peer }
    }

    // MARK: What the struct says

    @Test func kernelSaysWhetherTheSocketIsClosed() {
        var closed = HalfClosedClient(at: Self.start, takenByteCount: 0)
        #expect(Self.isGone(&closed, after: 0, .closed))
        var open = HalfClosedClient(at: Self.start, takenByteCount: 0)
        #expect(!Self.isGone(&open, after: 0, .open))
        #expect(!Self.isGone(&open, after: 3600, .open), "a half-closed client of this machine has all the time it wants")
    }

    @Test func clientElsewhereHasALimitedTime() {
        var client = HalfClosedClient(at: Self.start, takenByteCount: 0)
        #expect(!Self.isGone(&client, after: 29, .unknown))
        #expect(Self.isGone(&client, after: 30, .unknown))
    }

    /// A closed socket would have answered the bytes with a reset.
    @Test func clientElsewhereThatTakesItsResponseDoesNotCountAsGone() {
        var client = HalfClosedClient(at: Self.start, takenByteCount: 5)
        #expect(!Self.isGone(&client, after: 29, taken: 100, .unknown))
        #expect(!Self.isGone(&client, after: 58, taken: 100, .unknown))
        #expect(Self.isGone(&client, after: 59, taken: 100, .unknown))
    }

    @Test func kernelIsAskedLessAndLessOften() {
        let client = HalfClosedClient(at: Self.start, takenByteCount: 0)
        var askedAt: [Int64] = []
        for second in Int64(0)...60 {
            _ = client.isGone(at: Self.start + .seconds(second), takenByteCount: 0, limit: .seconds(30)) {
                askedAt.append(second)
                return .open
            }
        }
        #expect(askedAt == [0, 1, 2, 4, 8, 16, 26, 36, 46, 56])
    }

    // MARK: What the proxy does

    /// Waits until the kernel says that the client's socket is closed. Its FIN arrives a moment before.
    private func waitForClosedSocket(_ proxy: TestProxy) async throws {
        let loop = proxy.loop
        try await eventually("the end of the client's socket") {
            try await loop.eventLoop.submit({ loop.connections.inOrder.map(\.peerSocket) }).get() == [.closed]
        }
    }

    /// The second request begins when the end of the input is known. Before, it held its connection for `timeouts.requestBody`.
    @Test func requestWhoseBodyIsCutBehindAnotherOneEnds() async throws {
        try await withAttempt(of: .get("/1") + .post("/2", length: 6, body: "abc"), ticks: false) { proxy, client, first in
            first.beginSending()
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            first.respond(200, ["Content-Length: 1"], body: "1")
            #expect(try await client.answer().body == "1")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func closedSocketOfAClientOnThisMachineEndsItsAttempt() async throws {
        try await withAttempt(ticks: false) { proxy, client, attempt in
            attempt.beginSending()
            client.close()
            try await proxy.waitForClosedInput()
            #expect(!attempt.seen.value.isCancelled)
            try await waitForClosedSocket(proxy)
            try await proxy.tick(in: .seconds(1))
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            try await ConnectionTests.waitForNoConnection(proxy)
        }
    }

    @Test func halfClosedClientOnThisMachineGetsItsResponseHoweverLongItTakes() async throws {
        try await withAttempt(ticks: false) { proxy, client, attempt in
            attempt.beginSending()
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            for _ in 0..<3 { try await proxy.tick(in: .seconds(3600)) }
            #expect(!attempt.seen.value.isCancelled)
            attempt.respond(200, ["Content-Length: 2"], body: "ok")
            #expect(try await client.answer().body == "ok")
            #expect(try await client.ending().0 == .closed)
        }
    }

    @Test func closedSocketInTheMiddleOfAResponseEndsIt() async throws {
        try await withAttempt(of: .post("/", length: 0), ticks: false) { proxy, client, attempt in
            attempt.beginSending()
            attempt.sendHead(200, ["Content-Length: 10"])
            attempt.sendBody("abc")
            // Bytes that it has not read would make a reset of its close.
            _ = try await client.received.wait("all bytes") { $0.bytes.suffix(3).elementsEqual("abc".utf8) }
            client.close()
            try await proxy.waitForClosedInput()
            try await waitForClosedSocket(proxy)
            try await proxy.tick(in: .seconds(1))
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
        }
    }

    /// The kernel of another machine cannot be asked, and a socket from within the process has no address.
    @Test func clientThatTheKernelDoesNotKnowHasALimitedTime() async throws {
        try await withProxy(ticks: false, configuration: { $0.halfClosedTimeout = .seconds(30) }) { proxy in
            let client = try await RawClient.adopt(try await proxy.server.connect())
            try await client.send(.get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.beginSending()
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            try await proxy.tick(in: .seconds(20))
            #expect(!attempt.seen.value.isCancelled)
            try await proxy.tick(in: .seconds(40))
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
            #expect(try await client.ending().rest == "")
        }
    }

    @Test func closedUnixSocketIsNoticedAtOnce() async throws {
        try await withProxy(ticks: false) { proxy in
            let client = try await RawClient.adopt(try await proxy.server.connect())
            try await client.send(.get("/"))
            let attempt = try await proxy.nextAttempt()
            attempt.beginSending()
            client.close()
            try await attempt.seen.wait("the cancel") { $0.isCancelled }
        }
    }

    // MARK: The kernel

    @Test func kernelTellsAClosedSocketFromAHalfClosedOne() async throws {
        try await withProxy(ticks: false) { proxy in
            let client = try await proxy.client(sending: .get("/"))
            _ = try await proxy.nextAttempt()
            let loop = proxy.loop
            let state = { try await loop.eventLoop.submit { loop.connections.inOrder.map(\.peerSocket) }.get() }
            #expect(try await state() == [.open])
            try await client.closeOutput()
            try await proxy.waitForClosedInput()
            #expect(try await state() == [.open])
            client.close()
            try await waitForClosedSocket(proxy)
        }
    }
}
