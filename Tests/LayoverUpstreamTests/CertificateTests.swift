import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Testing

@testable import LayoverUpstream

/// Origins whose certificates must not be accepted, each made as it is met in the field.
@Suite(.serialized, .bothPaths)
struct CertificateTests {
    /// The fault of the certificate, and words of its message.
    enum Flaw: String, CaseIterable, Sendable {
        case expired, notYetValid, otherHost, onlyCommonName, selfSigned, unknownCA, missingIntermediate, weakKey, weakDigest,
            forClientsOnly
        case issuedByALeaf

        var words: [String] {
            switch self {
            case .expired: ["expired"]
            case .notYetValid: ["not yet valid"]
            case .otherHost, .onlyCommonName: ["mismatch", "does not match", "no alternative"]
            case .selfSigned: ["self-signed", "self signed"]
            case .unknownCA, .missingIntermediate: ["unable to get local issuer", "unable to verify the first"]
            case .weakKey: ["key too weak", "key too small"]
            case .weakDigest: ["md too weak", "digest"]
            case .forClientsOnly: ["purpose"]
            case .issuedByALeaf: ["invalid CA", "unable to get local issuer", "purpose", "signing"]
            }
        }
    }

    @Test(arguments: Flaw.allCases) func certificateIsRefusedAndTheReasonIsSaid(flaw: Flaw) async throws {
        // libcurl takes the common name for an address where nothing else is there.
        if Path.current == .libcurl, flaw == .onlyCommonName { return }
        let maker = try CertificateMaker()
        let (certificate, key, extra) = try maker.files(of: flaw)
        let origin = try TLSOrigin(certificateFile: certificate, keyFile: key, answer: TLSTests.answer, arguments: extra)
        let rig = try UpstreamRig { $0.caFile = maker.caFile }
        let failure = try #require(
            await rig.send(rig.request("POST", port: origin.port, scheme: .https, framing: .length(2), body: rig.body("ab"))).failure)
        #expect(failure.kind == .tlsCertificateError)
        #expect(failure.phase == .securing)
        #expect(failure.evidence == .neverSent)
        #expect(failure.shutsGate == false, "it will not be accepted later either")
        if Path.current == .direct {
            #expect(flaw.words.contains { failure.message.localizedCaseInsensitiveContains($0) }, "\(failure.message)")
        }
    }

    /// A chain with its intermediate, and a certificate that is trusted itself.
    @Test(arguments: [false, true]) func trustedCertificateIsAccepted(isSelfSigned: Bool) async throws {
        let maker = try CertificateMaker()
        let (certificate, key, extra) = try isSelfSigned ? maker.files(of: .selfSigned) : maker.filesOfAChain()
        let origin = try TLSOrigin(certificateFile: certificate, keyFile: key, answer: TLSTests.answer, arguments: extra)
        let rig = try UpstreamRig { $0.caFile = isSelfSigned ? certificate : maker.caFile }
        #expect(await rig.send(rig.request("GET", port: origin.port, scheme: .https)).bodyText == "ok")
    }

    /// The server demands a certificate, and we have none.
    @Test func alertOfTheOriginIsNamed() async throws {
        let maker = try CertificateMaker()
        let (certificate, key, extra) = try maker.filesOfAChain()
        let origin = try TLSOrigin(
            certificateFile: certificate, keyFile: key, answer: TLSTests.answer, arguments: extra + ["-Verify", "1", "-tls1_2"])
        let rig = try UpstreamRig { $0.caFile = maker.caFile }
        let failure = try #require(await rig.send(rig.request("GET", port: origin.port, scheme: .https)).failure)
        #expect(failure.kind == .tlsAlertReceived)
        #expect(failure.evidence == .neverSent)
        guard Path.current == .direct else { return }
        #expect(failure.message.contains("alert 40"), "\(failure.message)")
        #expect(failure.message.contains("client certificate"), "\(failure.message)")
        #expect(failure.isLastingRefusal && !failure.shutsGate)
    }
}
