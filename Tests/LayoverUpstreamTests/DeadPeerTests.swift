import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// A peer that takes no data is not dead, and one from which nothing comes back is.
@Suite(.bothPaths)
struct DeadPeerTests {
    private static let piece = ByteBuffer(repeating: 0x61, count: 1 << 20)

    /// A request with a body that fits into no socket.
    private func start(on rig: UpstreamRig, port: Int, byteCount: Int) -> AttemptRecord {
        let body = rig.emptyBody(length: byteCount)
        var request = rig.request("POST", port: port, framing: .length(byteCount), body: body)
        request.timeouts.deadPeer = .seconds(1)
        let record = rig.start(request)
        for _ in 0..<(byteCount >> 20) { _ = body.append(Self.piece) }
        body.finish()
        return record
    }

    /// The origin's window is closed for four times as long as a peer may be silent, and it acknowledges each probe.
    @Test func originThatDoesNotReadForAWhileIsAlive() async throws {
        let reads = Signal()
        let origin = try MisbehavingOrigin { connection in
            reads.block()
            guard connection.readRequest()?.body.count == 16 << 20 else { return }
            connection.answer()
        }
        let rig = try UpstreamRig()
        let record = start(on: rig, port: origin.port, byteCount: 16 << 20)
        // No event ends this: the test is that for so long nothing happens.
        try await rig.eventLoop.scheduleTask(in: .seconds(4)) {}.futureResult.get()
        #expect(record.facts.failure == nil)
        reads.fire()
        let facts = await record.ended()
        #expect(facts.failure == nil && facts.status == 200)
    }

    /// The origin acknowledges nothing, or the whole request. In the second case only the probes of an idle connection show that it is gone
    /// (TCP_KEEPIDLE, tcp(7)).
    @Test(
        arguments: [
            (false, 16 << 20, [.connectionWriteTimeout, .connectionReadTimeout]), (true, 1 << 20, [.connectionReadTimeout]),
        ] as [(Bool, Int, [FailureKind])])
    func originFromWhichNothingComesBackIsDead(readsRequest: Bool, byteCount: Int, kinds: [FailureKind]) async throws {
        let origin = try MisbehavingOrigin { connection in
            if readsRequest, connection.readRequest()?.body.count != byteCount { return }
            connection.dropEverything()
            connection.readToEnd()
        }
        let rig = try UpstreamRig()
        let failure = try #require(await start(on: rig, port: origin.port, byteCount: byteCount).ended().failure)
        #expect(kinds.contains(failure.kind), "\(failure)")
        #expect(failure.message.contains("acknowledged nothing"))
        #expect(failure.evidence == .maybeApplied)
    }

    private static func isDead(_ looks: [(now: Int, count: Int, since: Int)]) -> [Bool] {
        var silence = PeerSilence()
        return looks.map {
            silence.isDead(
                .init(unansweredCount: $0.count, sinceAcknowledged: .seconds($0.since)), now: .seconds($0.now), limit: .seconds(60))
        }
    }

    @Test func silenceCountsFromTheFirstUnansweredPacket() {
        // Idle for 1 000 s, then a packet that is not answered.
        #expect(Self.isDead([(0, 0, 1_000), (5, 1, 1_005), (64, 4, 1_064), (65, 4, 1_065)]) == [false, false, false, true])
        // Each probe is answered, also where probes are far apart.
        #expect(Self.isDead([(0, 1, 90), (1, 0, 1), (120, 1, 119), (121, 0, 1), (300, 1, 120)]) == [false, false, false, false, false])
        // Something came back in between.
        #expect(Self.isDead([(0, 2, 0), (59, 3, 1), (100, 3, 42), (118, 3, 60)]) == [false, false, false, true])
        // One lost packet is no proof.
        #expect(Self.isDead([(0, 1, 0), (100, 1, 100), (101, 2, 101)]) == [false, false, true])
    }
}
