import Foundation
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverTLS

/// Content of the certificates of intercepted hosts.
struct LeafCertificateTests {
    private static let long = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".example"

    /// As it is asked for, and as openssl shows it.
    static let names = [
        ("shop.example", "DNS:shop.example"), ("xn--bcher-kva.example", "DNS:xn--bcher-kva.example"), (long, "DNS:\(long)"),
        ("192.0.2.7", "IP Address:192.0.2.7"), ("2001:db8::1", "IP Address:2001:DB8:0:0:0:0:0:1"),
        ("under_score.example", "DNS:under_score.example"),
    ]

    @Test(arguments: names) func certificateHasWhatStrictVerifiersAskFor(name: String, shown: String) async throws {
        let rig = try LeafRig()
        let leaf = try await rig.leaf(name)
        let text = try await rig.text(of: leaf)
        let isLong = name.utf8.count > 64
        for part in [
            "prime256v1", "Basic Constraints: critical\nCA:FALSE\n", "Key Usage: critical\nDigital Signature\n",
            "Extended Key Usage:\nTLS Web Server Authentication\n",
            "Subject Alternative Name:\(isLong ? " critical" : "")\n\(shown)\n",
        ] { #expect(text.contains(part), "\(part): \(text)") }
        #expect(text.contains(isLong ? "Subject:\n" : "Subject: CN = \(name)\n"), "\(text)")
        for part in ["CRL", "OCSP", "TLS Feature"] { #expect(!text.contains(part), "nobody answers: \(part)") }
        // Both ends belong to it.
        #expect(leaf.notAfter - leaf.notBefore + 1 == 90 * 24 * 60 * 60)
        #expect(leaf.notBefore == rig.clock.value - 3600)

        let file = try rig.folder.write(leaf.pem, to: "leaf.pem")
        let check = name.contains(":") || name.hasPrefix("192.") ? "-verify_ip" : "-verify_hostname"
        try await Command(
            "openssl",
            [
                "verify", "-x509_strict", "-purpose", "sslserver", "-check_ss_sig", "-CAfile", rig.caFile, check, name, file,
            ]
        ).succeed()
    }

    @Test func keyIdentifiersLeadToTheAuthority() async throws {
        let rig = try LeafRig()
        let leaf = try await rig.leaf("shop.example")
        let text = try await rig.text(of: leaf)
        let identifiers = text.matches(of: /Key Identifier: ?\n([0-9A-F:]+)/).map { String($0.1).replacing(":", with: "").lowercased() }
        #expect(Set(identifiers).count == 2 && identifiers.contains(rig.authority.keyIdentifier), "\(text)")
    }

    @Test func certificatesHaveOneKeyAndSerialNumbersOfTheirOwn() async throws {
        let rig = try LeafRig()
        let leaves = [try await rig.leaf("a.example"), try await rig.leaf("b.example")]
        #expect(leaves[0].keyDigest == leaves[1].keyDigest && leaves[0].keyDigest != rig.authority.certificate.keyDigest)
        var serials = Set<String>()
        for leaf in leaves + [rig.authority.certificate] {
            let file = try rig.folder.write(leaf.pem, to: "one.pem")
            serials.insert(try await Command("openssl", ["x509", "-noout", "-serial", "-in", file]).succeed().output)
        }
        #expect(serials.count == 3)
        #expect(serials.allSatisfy { $0.count == "serial=\n".count + 32 }, "128 random bits: \(serials)")
    }

    @Test func spellingsOfOneNameShareACertificate() async throws {
        let rig = try LeafRig()
        for spellings in [
            ["shop.example", "SHOP.Example", "shop.example.", "Shop.Example."], ["2001:db8::1", "[2001:DB8:0::1]", "2001:db8:0:0:0:0:0:1"],
        ] {
            let first = try await rig.context(spellings[0])
            for spelling in spellings { #expect(try await rig.context(spelling) === first, "\(spelling)") }
        }
    }

    @Test(arguments: [
        "", ".", "a..b", "*.example", "a b", "a\u{0}b", "bücher.example", "a/b", "[::1", "a:443", "DNS:a,DNS:b",
        String(repeating: "a", count: 64) + ".example", String(repeating: "a.", count: 130),
    ])
    func invalidHostNameGetsNoCertificate(name: String) async throws {
        let rig = try LeafRig()
        #expect(await rig.failure(name) == .invalidName)
    }

    @Test func certificateEndsNoLaterThanTheAuthority() async throws {
        let rig = try LeafRig(authorityAge: 3652 * 86_400 - 10 * 86_400)
        #expect(try await rig.leaf("shop.example").notAfter == rig.authority.notAfter)
        rig.clock.update { $0 += 10 * 86_400 }
        #expect(await rig.failure("shop.example") == .expired)
        #expect(await rig.failure("other.example") == .expired)
    }
}

/// An authority, its certificates, and a clock that stands still.
final class LeafRig: Sendable {
    let folder: TemporaryFolder
    let authority: CertificateAuthority
    let leaves: LeafCertificates
    let caFile: String
    let threads = NIOThreadPool(numberOfThreads: 1)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    /// Seconds of 1970.
    let clock = Watched(time(nil))

    /// - Parameter authorityAge: Seconds since the authority was made.
    init(authorityAge: Int = 0) throws {
        folder = try TemporaryFolder()
        authority = try CertificateAuthority.make(now: clock.value - authorityAge)
        caFile = try folder.write(authority.certificatePEM, to: "ca.pem")
        threads.start()
        leaves = try LeafCertificates(authority: authority, threads: threads, supportsHTTP2: true) { [clock] in clock.value }
    }

    deinit { threads.shutdownGracefully { _ in } }

    func context(_ name: String) async throws -> TLSServerContext { try await leaves.context(for: name, on: loop).get() }

    func leaf(_ name: String) async throws -> Certificate { try #require(try await context(name).chain.first) }

    /// The reason why there is no certificate; nil if there is one.
    func failure(_ name: String) async -> CertificateError.Code? {
        do {
            _ = try await context(name)
            return nil
        } catch {
            return (error as? CertificateError)?.code
        }
    }

    /// Output of openssl for the certificate, without the spaces at the start of lines.
    func text(of certificate: Certificate) async throws -> String {
        let file = try folder.write(certificate.pem, to: "shown.pem")
        let text = try await Command("openssl", ["x509", "-noout", "-text", "-in", file]).succeed().output
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
