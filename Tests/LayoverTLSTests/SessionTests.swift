import Foundation
import LayoverTLS
import LayoverTestSupport
import Testing

/// Sessions that clients resume, and those that they must not.
@Suite(.serialized)
struct SessionTests {
    private let rig: ServingRig

    init() async throws { rig = try await ServingRig() }

    /// `openssl s_client` that stays until it has a response: in TLS 1.3 the session comes behind the handshake.
    private func visit(_ name: String, _ words: [String]) async throws -> String {
        let program = """
            import subprocess, sys
            client = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            client.stdin.write(b"hello\\n")
            client.stdin.flush()
            seen = b""
            while b"HTTP/1.1 200" not in seen and (part := client.stdout.read1(65536)):
                seen += part
            client.stdin.close()
            print((seen + client.stdout.read()).decode())
            """
        let client = ["openssl", "s_client", "-connect", "127.0.0.1:\(rig.port)", "-servername", name, "-CAfile", rig.caFile]
        return try await Command("/usr/bin/python3", ["-c", program] + client + words).succeed(within: .seconds(60)).output
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func sessionIsResumedForTheSameNameAndAuthorityOnly(version: String) async throws {
        let session = rig.folder.file("session").path
        let first = try await visit("shop.example", [version, "-sess_out", session])
        #expect(first.contains("New, TLSv1") && first.contains("none shop.example new"), "\(first)")
        let again = try await visit("shop.example", [version, "-sess_in", session])
        #expect(again.contains("Reused, TLSv1") && again.contains("none shop.example resumed"), "\(again)")
        let other = try await visit("other.example", [version, "-sess_in", session])
        #expect(other.contains("none other.example new") && other.contains("CN = other.example"), "\(other)")
        rig.leaves.use(try CertificateAuthority.make(now: time(nil)))
        let later = try await visit("shop.example", [version, "-sess_in", session])
        #expect(later.contains("none shop.example new"), "\(later)")
    }

    /// Early data could be replayed (RFC 8446 section 8).
    @Test func noEarlyDataIsOffered() async throws {
        let session = rig.folder.file("session").path
        let first = try await visit("shop.example", ["-tls1_3", "-sess_out", session])
        #expect(first.contains("Max Early Data: 0"), "\(first)")
        let early = try rig.folder.write("early", to: "early")
        let again = try await visit("shop.example", ["-tls1_3", "-sess_in", session, "-early_data", early])
        #expect(again.contains("Reused") && !again.contains("Early data was accepted"), "\(again)")
    }

    @Test(arguments: ["-tls1", "-tls1_1"]) func olderVersionIsRefusedWithItsAlert(version: String) async throws {
        let result = try await Command(
            "openssl",
            ["s_client", "-connect", "127.0.0.1:\(rig.port)", "-servername", "shop.example", "-cipher", "ALL:@SECLEVEL=0", version]
        ).run(within: .seconds(60))
        #expect(result.status != 0 && result.errors.contains("alert protocol version"), "\(result)")
    }
}
