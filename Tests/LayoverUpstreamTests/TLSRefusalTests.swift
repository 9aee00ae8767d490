import LayoverCore
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverUpstream

/// Origins that refuse TLS for a reason that waiting does not change.
@Suite(.serialized, .bothPaths)
struct TLSRefusalTests {
    /// Under TLS 1.3 the request is on its way when the origin finds that the certificate is missing. It has acted on nothing.
    @Test(arguments: ["GET", "POST"], ["-tls1_2", "-tls1_3"])
    func missingClientCertificateIsNamedAndNothingWasSent(method: String, version: String) async throws {
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, .wantsACertificate, version: version)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let body = method == "POST" ? rig.body("ab") : nil
        let facts = await rig.send(
            rig.request(method, port: origin.port, scheme: .https, framing: body == nil ? .none : .length(2), body: body))
        let failure = try #require(facts.failure)
        #expect(facts.events == ["failed"])
        // libcurl: the origin may have closed before all of the request was sent. Then the failure of sending is reported, and not the alert.
        if Path.current == .libcurl, version == "-tls1_3", failure.curlCode == 55 {
            #expect(failure.evidence == .neverSent || failure.bytesSent > 0)
            return
        }
        #expect(failure.evidence == .neverSent)
        #expect(failure.kind == .tlsAlertReceived, "\(failure)")
        #expect(failure.phase == .securing)
        // libcurl does not report that the origin asked for a certificate, so the general alert 40 stays one that may change there.
        let isKnown = Path.current == .direct || version == "-tls1_3"
        #expect(failure.isLastingRefusal == isKnown)
        #expect(RetryCondition.connectivity.matches(failure) == !isKnown)
        #expect(failure.shutsGate == !isKnown)
        if isKnown {
            #expect(failure.message.contains(version == "-tls1_3" ? "alert 116" : "alert 40"), "\(failure.message)")
            #expect(failure.message.contains("client certificate"), "\(failure.message)")
        }
    }

    /// The origin closes while the body is sent, so sending fails before its alert is read.
    @Test func refusalIsFoundBehindABodyThatCouldNotBeSent() async throws {
        // libcurl reports the failure of sending only.
        guard Path.current == .direct else { return }
        let certificates = try TestCertificates()
        let origin = try await ScriptedTLSOrigin(certificates, .wantsACertificate, version: "-tls1_3")
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        for _ in 0..<5 {
            let body = rig.emptyBody(length: 16 << 20)
            let record = rig.start(rig.request("POST", port: origin.port, scheme: .https, framing: .length(16 << 20), body: body))
            for _ in 0..<16 { _ = body.append(ByteBuffer(repeating: 0x61, count: 1 << 20)) }
            body.finish()
            let failure = try #require(await record.ended().failure)
            #expect(failure.kind == .tlsAlertReceived, "\(failure)")
            #expect(failure.evidence == .neverSent)
            #expect(failure.isLastingRefusal)
        }
    }

    @Test(arguments: [
        (["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], "alert 70"), (["-alpn", "h2"], "alert 120"),
    ])
    func lastingAlertOfTheHandshakeIsNamed(arguments: [String], alert: String) async throws {
        let certificates = try TestCertificates()
        let origin = try TLSOrigin(certificates: certificates, answer: TLSTests.answer, arguments: arguments)
        let rig = try UpstreamRig { $0.caFile = certificates.caFile }
        let failure = try #require(await rig.send(rig.request("POST", port: origin.port, scheme: .https)).failure)
        #expect(failure.kind == .tlsAlertReceived)
        #expect(failure.phase == .securing && failure.evidence == .neverSent)
        #expect(failure.isLastingRefusal)
        #expect(failure.message.contains(alert), "\(failure.message)")
    }
}
