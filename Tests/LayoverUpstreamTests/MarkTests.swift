import LayoverCore
import LayoverTestSupport
import Synchronization
import Testing

@testable import LayoverUpstream

/// When it is noted that sending begins: once the connection stands, before the first byte. So an attempt that finds no
/// way is as cheap and as harmless as a bare connect, and can be the canary of requests that must not be sent twice.
@Suite(.bothPaths)
struct MarkTests {
    private func attempt(
        _ rig: UpstreamRig, port: Int, scheme: Origin.Scheme = .http, mark: @escaping @Sendable () -> Bool
    ) async -> AttemptRecord.Facts {
        let request = rig.request("POST", port: port, scheme: scheme, framing: .length(5), body: rig.body("order"))
        return await rig.start(request, needsFreshConnection: true, permit: { answer in answer(mark()) }).ended()
    }

    @Test func startIsNotRecordedIfTheConnectionIsRefused() async throws {
        let rig = try UpstreamRig()
        let count = Atomic(0)
        let facts = await attempt(rig, port: try ListeningSocket.refusingPort()) { count.add(1, ordering: .relaxed).newValue > 0 }
        facts.failure.expect(phase: .connecting, evidence: .neverSent)
        #expect(count.load(ordering: .relaxed) == 0)
    }

    /// The origin accepts the connection and closes it in the middle of the handshake.
    @Test func startIsNotRecordedIfTheHandshakeFails() async throws {
        let rig = try UpstreamRig()
        let origin = try MisbehavingOrigin { connection in _ = connection.read(1) }
        let count = Atomic(0)
        let facts = await attempt(rig, port: origin.port, scheme: .https) {
            count.add(1, ordering: .relaxed).newValue > 0
        }
        facts.failure.expect(phase: .securing, evidence: .neverSent)
        #expect(count.load(ordering: .relaxed) == 0)
        #expect(origin.connections.count == 1)
    }

    @Test func startIsRecordedOnceBeforeTheFirstByte() async throws {
        let rig = try UpstreamRig()
        let origin = try MisbehavingOrigin.answering(once: true)
        let seen = Mutex<[String]>([])
        let facts = await attempt(rig, port: origin.port) {
            seen.withLock { $0.append(origin.received.joined()) }
            return true
        }
        #expect(facts.events == ["head", "body", "end"])
        #expect(seen.withLock { $0 } == [""], "nothing had come by then")
        #expect(origin.count(of: "POST /x HTTP/1.1") == 1)
    }

    @Test func requestIsNotSentIfItsStartCannotBeRecorded() async throws {
        let rig = try UpstreamRig()
        let origin = try MisbehavingOrigin.answering(once: true)
        let facts = await attempt(rig, port: origin.port) { false }
        #expect(facts.events == ["failed"])
        facts.failure.expect(kind: .proxyInternalError, evidence: .neverSent)
        try await rig.stop()
        #expect(origin.received.joined().isEmpty)
    }
}
