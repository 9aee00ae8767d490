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
        defer { origin.stop() }
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let request = rig.request("GET", port: origin.port, scheme: .https)
        let first = await rig.send(request)
        #expect(first.events == ["head", "body", "end"])
        #expect(first.failure == nil)
        // s_server serves one connection at a time: a second one would wait for ever.
        for _ in 1...3 { #expect(await rig.send(request).bodyText == "ok") }
        try await rig.stop()
    }

    @Test func originOfAnUnknownCAGetsNothing() async throws {
        let certificates = try TestCertificates()
        let origin = try TLSOrigin(certificates: certificates, answer: Self.answer)
        defer { origin.stop() }
        let rig = try UpstreamRig()
        let failure = await rig.send(rig.request("POST", port: origin.port, scheme: .https)).failure
        #expect(failure?.kind == .tlsCertificateError)
        #expect(failure?.phase == .securing)
        #expect(failure?.evidence == .neverSent)
        // The certificate will not be trusted later either.
        #expect(failure?.shutsGate == false)
        try await rig.stop()
    }

    @Test func certificateForAnotherHostIsRefused() async throws {
        let certificates = try TestCertificates(names: "DNS:elsewhere.example")
        let origin = try TLSOrigin(certificates: certificates, answer: Self.answer)
        defer { origin.stop() }
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let failure = await rig.send(rig.request("POST", port: origin.port, scheme: .https)).failure
        #expect(failure?.kind == .tlsCertificateError)
        #expect(failure?.evidence == .neverSent)
        try await rig.stop()
    }

    @Test func oldProtocolIsRefused() async throws {
        let certificates = try TestCertificates()
        let origin = try TLSOrigin(
            certificates: certificates, answer: Self.answer,
            arguments: ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        defer { origin.stop() }
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let failure = await rig.send(rig.request("POST", port: origin.port, scheme: .https)).failure
        #expect(failure?.phase == .securing)
        #expect(failure?.evidence == .neverSent)
        try await rig.stop()
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "", "reset"])
    func originWithoutTLSGetsNothing(answer: String) async throws {
        let origin = try MisbehavingOrigin { connection in
            _ = connection.read(5)
            if answer == "reset" { return connection.reset() }
            connection.write(answer)
        }
        defer { origin.stop() }
        let rig = try UpstreamRig()
        let failure = await rig.send(
            rig.request("POST", port: origin.port, scheme: .https, target: "/secret")
        ).failure
        #expect(failure?.kind == .tlsProtocolError)
        #expect(failure?.phase == .securing)
        #expect(failure?.evidence == .neverSent)
        #expect(failure?.shutsGate == true)
        #expect(origin.count(of: "secret") == 0)
        try await rig.stop()
    }

    /// The origin takes the connection and the first message of the handshake, and does not answer.
    @Test(arguments: [true, false])
    func handshakeThatHangsFailsWhileSecuring(isCancelled: Bool) async throws {
        let greeted = Signal()
        let origin = try MisbehavingOrigin { connection in
            guard connection.read(5) != nil else { return }
            greeted.fire()
            connection.readToEnd()
        }
        defer { origin.stop() }
        let rig = try UpstreamRig()
        var request = rig.request("POST", port: origin.port, scheme: .https, target: "/secret")
        if !isCancelled { request.timeouts.connect = .milliseconds(300) }
        let record = rig.start(request)
        if isCancelled {
            #expect(await greeted.happened())
            record.cancel()
        }
        let failure = await record.ended().failure
        #expect(failure?.phase == .securing)
        #expect(failure?.evidence == .neverSent)
        if !isCancelled {
            #expect(failure?.kind == .connectionTimeout)
            #expect(failure?.shutsGate == true)
            #expect(failure?.message.contains("TLS handshake") == true)
        }
        try await rig.stop()
    }

    @Test func unreadableCAFileIsAnError() {
        #expect(throws: UpstreamError.self) { try UpstreamRig { $0.caFile = "/no/such/file" } }
    }
}
