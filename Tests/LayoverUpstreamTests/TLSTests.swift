import LayoverCore
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Origins behind TLS, with a private CA.
@Suite(.serialized, .bothPaths)
struct TLSTests {
    static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func originOfATrustedCAIsReachedAndItsConnectionIsKept() async throws {
        let certificates = try TestCertificates()
        let origin = try TLSOrigin(certificates: certificates, answer: Self.answer)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let request = rig.request("GET", port: origin.port, scheme: .https)
        let first = await rig.send(request)
        #expect(first.events == ["head", "body", "end"])
        #expect(first.failure == nil)
        // s_server serves one connection at a time: a second one would wait for ever.
        for _ in 1...3 { #expect(await rig.send(request).bodyText == "ok") }
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "", "reset"])
    func originWithoutTLSGetsNothing(answer: String) async throws {
        let origin = try MisbehavingOrigin { connection in
            _ = connection.read(5)
            if answer == "reset" { return connection.reset() }
            connection.write(answer)
        }
        let rig = try UpstreamRig()
        let failure = await rig.send(
            rig.request("POST", port: origin.port, scheme: .https, target: "/secret")
        ).failure
        failure.expect(kind: .tlsProtocolError, phase: .securing, evidence: .neverSent, shutsGate: true)
        #expect(origin.count(of: "secret") == 0)
    }

    @Test func handshakeThatIsCancelledFailsWhileSecuring() async throws {
        let greeted = Signal()
        let origin = try MisbehavingOrigin.silent(greeted) { $0.read(5) != nil }
        let rig = try UpstreamRig()
        let record = rig.start(rig.request("POST", port: origin.port, scheme: .https, target: "/secret"))
        #expect(await greeted.happened())
        record.cancel()
        let failure = await record.ended().failure
        failure.expect(phase: .securing, evidence: .neverSent)
    }

    /// - Returns: The failure of an attempt whose handshake began; nil if the time was over before, as on a busy machine.
    private static func failureOfSilence(connectMax: Duration, on rig: UpstreamRig) async throws -> Failure? {
        let origin = try MisbehavingOrigin.silent(Signal()) { $0.read(5) != nil }
        var request = rig.request("POST", port: origin.port, scheme: .https, target: "/secret")
        request.timeouts.connect = connectMax
        let failure = await rig.send(request).failure
        return origin.connections.contains { !$0.received.isEmpty } ? failure : nil
    }

    @Test func handshakeThatHangsFailsWhileSecuring() async throws {
        let rig = try UpstreamRig()
        var outcome: Failure?
        for milliseconds in [300, 1_000, 3_000, 9_000] where outcome == nil {
            outcome = try await Self.failureOfSilence(connectMax: .milliseconds(milliseconds), on: rig)
        }
        let failure = try #require(outcome)
        #expect(failure.phase == .securing)
        #expect(failure.evidence == .neverSent)
        #expect(failure.kind == .connectionTimeout)
        #expect(failure.shutsGate)
        #expect(failure.message.contains("TLS handshake"))
    }

    @Test func unreadableCAFileIsAnError() {
        #expect(throws: UpstreamError.self) { try UpstreamRig { $0.caFile = "/no/such/file" } }
    }
}
