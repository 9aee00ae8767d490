import Glibc
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Connections of HTTP/2 that have carried a body are closed for sending first. The origins never close theirs.
@Suite(.serialized, .bothPaths)
struct LingeringCloseTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    private func rig(adjust: (inout UpstreamOptions) -> Void = { _ in }) throws -> UpstreamRig {
        try UpstreamRig { options in
            options.caFile = certificates.caFile
            adjust(&options)
        }
    }

    private func request(to origin: ScriptedTLSOrigin, on rig: UpstreamRig, body: String? = "all of it") -> UpstreamRequest {
        var request = rig.request(
            "POST", port: origin.port, scheme: .https, framing: body.map { .length($0.utf8.count) } ?? .none, body: body.map { rig.body($0) })
        request.supportsHTTP2 = true
        return request
    }

    private func waitForIdle(_ count: Int, on rig: UpstreamRig) async throws {
        try await eventually("\(count) connections are open, and no attempt uses them") {
            let counts = try await rig.eventLoop.submit { rig.worker.connectionCounts }.get()
            return counts.values.allSatisfy { $0.busy == 0 } && counts.values.map(\.open).reduce(0, +) == count
        }
    }

    @Test func connectionIsClosedWhenItsTimeIsOver() async throws {
        let origin = try await ScriptedTLSOrigin(certificates, .http2)
        let rig = try rig { $0.lingerMax = .seconds(2) }
        let start = ContinuousClock.now
        #expect(await rig.send(request(to: origin, on: rig)).status == 200)
        try await waitForIdle(1, on: rig)
        try await waitForIdle(0, on: rig)
        #expect(ContinuousClock.now - start >= .seconds(2))
    }

    @Test func oldestConnectionMakesRoom() async throws {
        let origin = try await ScriptedTLSOrigin(certificates, .http2)
        let rig = try rig { $0.lingeringCountMax = 2 }
        for count in [1, 2, 2] {
            #expect(await rig.send(request(to: origin, on: rig)).status == 200)
            try await waitForIdle(count, on: rig)
        }
        try await rig.stop()
        #expect(rig.worker.connectionCounts.isEmpty)
    }

    /// The origin has read the request before it answers.
    @Test func connectionOfARequestWithoutABodyIsClosedAtOnce() async throws {
        let origin = try await ScriptedTLSOrigin(certificates, .http2)
        let rig = try rig()
        #expect(await rig.send(request(to: origin, on: rig, body: nil)).status == 200)
        try await waitForIdle(0, on: rig)
    }

    /// Its origin would go on with a response that nobody reads.
    @Test func connectionOfACancelledAttemptIsClosedAtOnce() async throws {
        let origin = try await ScriptedTLSOrigin(certificates, .http2Endless)
        let rig = try rig()
        let record = rig.start(request(to: origin, on: rig))
        #expect(await record.waitFor { $0.status != nil }.status == 200)
        record.cancel()
        _ = await record.ended()
        try await waitForIdle(0, on: rig)
    }

    @Test func socketIsOverWhenItsPeerHasClosedOrSentTooMuch() throws {
        var sockets = LingeringSockets(options: UpstreamOptions(addressGuard: OpenGuard()))
        var pair: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        var isOver: [Bool] = []
        var toClose: CInt? = sockets.add(pair[0], at: 7)
        var byte: UInt8 = 0
        #expect(recv(pair[1], &byte, 1, 0) == 0, "it is closed for sending")
        isOver.append(sockets.read(pair[0]))
        let piece = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 1...16 {
            try #require(send(pair[1], piece, piece.count, 0) == piece.count)
            isOver.append(sockets.read(pair[0]))
        }
        #expect(isOver == Array(repeating: false, count: 16) + [true])
        #expect(sockets.endsAt == nil)

        toClose = toClose ?? sockets.add(pair[0], at: 7)
        #expect(toClose == nil)
        let due = sockets.takeThoseDue(at: 60_000_000_006)
        #expect(due.isEmpty)
        shutdown(pair[1], CInt(SHUT_WR))
        let hasEnded = sockets.read(pair[0])
        #expect(hasEnded)
        #expect(sockets.endsAt == nil)
    }
}
