import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

@testable import LayoverTrust

struct CertificateTests {
    @Test func certificateIsReadAsOpenSSLReadsIt() async throws {
        let folder = try TemporaryFolder()
        let file = try await TestAuthority(in: folder).certificate
        let certificate = try #require(Certificate(file: file))
        let text = try await Command("openssl", ["x509", "-in", file, "-noout", "-fingerprint", "-sha256", "-enddate"]).succeed().output

        #expect(text.contains("=\(certificate.fingerprintForPeople)\n"), "\(text)")
        #expect(certificate.subject == "CN=Layover test authority")
        #expect(abs(Date(timeIntervalSince1970: Double(certificate.notAfter)).timeIntervalSinceNow - 2 * 86_400) < 600)
        #expect(certificate.nickname == "Layover CA \(certificate.fingerprint.prefix(16))")
    }

    @Test func invalidBytesMakeNoCertificate() throws {
        let folder = try TemporaryFolder()
        #expect(Certificate(der: [0x30, 0x03, 0x02, 0x01, 0x03]) == nil)
        #expect(Certificate(file: folder.file("nothing").path) == nil)
        #expect(Certificate(file: folder.url.path) == nil)
    }

    @Test func damagedPartsOfAFileArePassedOver() async throws {
        let (one, other) = (try await Certificate.fixture(), try await Certificate.fixture())
        let broken = one.pem.replacing("-----END CERTIFICATE-----\n", with: "")
        let text =
            "notes\r\n\(broken)\(one.pem.replacing("\n", with: "\r\n"))"
            + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"
            + PEM.text(of: other.der)
        #expect(PEM.certificates(in: Array(text.utf8)) == [one.der, other.der])
    }

    /// OpenSSL's trusted form has more behind the certificate, which no other program reads.
    @Test func theTrustedFormIsTakenAsAPlainOne() async throws {
        let folder = try TemporaryFolder()
        let file = try await TestAuthority(in: folder).certificate
        let plain = try #require(Certificate(file: file))
        let trusted = try await Command("openssl", ["x509", "-in", file, "-trustout", "-addtrust", "serverAuth"]).succeed().output
        #expect(trusted.contains("BEGIN TRUSTED CERTIFICATE"))
        #expect(PEM.certificates(in: Array(trusted.utf8)) == [plain.der])
    }

    @Test func opensslReadsTheTrustStoreForJava() async throws {
        let folder = try TemporaryFolder()
        let certificates = [try await Certificate.fixture(), try await Certificate.fixture()]
        let file = folder.file("java.p12")
        try Data(JavaTrustStoreFile.bytes(certificates.map(\.der))).write(to: file)
        let listing = try await Command("openssl", ["asn1parse", "-inform", "DER", "-in", file.path, "-strparse", "26"]).succeed()
        #expect(listing.output.contains("pkcs-12-certBag") || listing.output.contains("SEQUENCE"), "\(listing)")
    }

    @Test(.enabled(if: ToolRun.find("keytool", environment: ["PATH": "/usr/bin"]) != nil, "needs Java"))
    func javaReadsItsTrustStoreWithoutPassword() async throws {
        let folder = try TemporaryFolder()
        let certificates = [try await Certificate.fixture(), try await Certificate.fixture()]
        let file = folder.file("java.p12")
        try Data(JavaTrustStoreFile.bytes(certificates.map(\.der))).write(to: file)
        let listing = try await Command("keytool", ["-list", "-keystore", file.path, "-storepass", "changeit"]).succeed().output
        for certificate in certificates {
            let aliases = JavaTrustStore.aliases(of: certificate, in: listing)
            #expect(aliases.count == 1 && aliases.allSatisfy { listing.contains("\($0), ") && !$0.contains(",") }, "\(listing)")
        }
        #expect(listing.contains("trustedCertEntry"))
    }

    /// As keytool of Java 8 to 21 prints it, with the space at the end of the line.
    @Test(arguments: ["layover-0123456789abcdef", "of, Jan 1, 2026, ours"]) func aliasIsAllThatStandsBeforeTheDate(alias: String)
        async throws
    {
        let certificate = try await Certificate.fixture()
        let listing = """
            Your keystore contains 2 entries

            other, Jun 4, 2025, trustedCertEntry,\(" ")
            Certificate fingerprint (SHA-256): 00:11
            \(alias), Nov 25, 2026, trustedCertEntry,\(" ")
            Certificate fingerprint (SHA-256): \(certificate.fingerprintForPeople)
            """
        #expect(JavaTrustStore.aliases(of: certificate, in: listing) == [alias])
    }
}
