import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Servers whose certificates are not accepted: their clients are told why, inside connections that work, and nothing waits.
    @Suite(.bothPaths) struct UpstreamCertificates {
        /// Name, and words of the reason on either path.
        static let cases = [
            ("expired", "has expired"), ("early", "not yet valid"), ("elsewhere", "mismatch|name matches"),
            ("alone", "self.signed certificate"), ("stranger", "unable to get (local )?issuer|self.signed certificate in"),
            ("client", "purpose"), ("weak", "too (small|weak)"),
        ]

        @Test func badCertificateIsAnErrorWithItsReasonAndNothingWaits() async throws {
            let files = try CertificateMaker()
            let name = "subjectAltName=DNS:localhost"
            try files.issue("expired", extensions: [name], validity: ("20200101000000Z", "20200201000000Z"))
            try files.issue("early", extensions: [name], validity: ("20400101000000Z", "20400201000000Z"))
            try files.issue("elsewhere", subject: "/CN=localhost", extensions: ["subjectAltName=DNS:elsewhere.example"])
            try files.makeRoot("alone", subject: "/CN=localhost", extensions: [name])
            try files.makeRoot("other", subject: "/CN=Other CA")
            try files.issue("stranger", by: "other", extensions: [name])
            try files.issue("client", extensions: [name, "extendedKeyUsage=clientAuth"])
            try files.issue("weak", extensions: [name], key: .weak)
            try files.issue("good", extensions: [name])
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(files.caFile)", "folder": "authority"}, "routes": {"seen": {"host": "localhost", "intercept": true}}}
                """)
            func answer(_ certificate: String) async throws -> String {
                let origin = try TLSOrigin(
                    certificateFile: files.path("\(certificate).pem"), keyFile: files.path("\(certificate).key"),
                    answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood", arguments: ["-cipher", "DEFAULT:@SECLEVEL=0"])
                defer { origin.stop() }
                return try await layover.client(
                    "curl", "--http1.1", "--silent", "--show-error", "--cacert", layover.folder.file("authority/ca.pem").path, "--write-out",
                    "\n%{http_code} %{num_connects}", "https://localhost:\(origin.port)/"
                ).succeed(within: .seconds(20)).output
            }
            #expect(try await answer("good").hasPrefix("good\n200"))
            for (certificate, reason) in Self.cases {
                let text = try await answer(certificate)
                #expect(text.contains(#""kind":"tls_certificate_error""#) && text.hasSuffix("\n502 1"), "\(certificate): \(text)")
                let hasReason = text.range(of: reason, options: .regularExpression) != nil
                #expect(hasReason, "\(certificate): \(text)")
            }
            #expect(try await layover.waitForPending { _ in true }.data.isEmpty)
        }

        /// A Layover that was started after `eval "$(layover env --ca)"` of its own, and one of another authority, to show that the
        /// certificate is a good one.
        @Test func ownAuthorityIsNotTrustedAlthoughTheEnvironmentSaysSo() async throws {
            let files = try TemporaryFolder()
            let folder = files.file("authority").path
            let (certificate, key) = (folder + "/ca.pem", folder + "/ca.key")
            try files.write(#"{"tls": {"folder": "authority"}}"#, to: "config.json")
            try await Command(RunningLayover.binary, ["ca", "init", "--config", files.file("config.json").path]).succeed()
            let impostor = try await TestAuthority.identity(in: files, signedBy: certificate, key: key)
            let origin = try await RunningOrigin.start(in: files, identity: impostor)
            // Under another name, as in the system's store.
            let copy = try files.write(String(contentsOfFile: certificate, encoding: .utf8), to: "copy.pem")
            func answer(folder: String) async throws -> String {
                let layover = try await RunningLayover.start(
                    #"{"tls": {"caFile": "\#(copy)", "folder": "\#(folder)"}, "routes": {"seen": {"host": "localhost", "intercept": true}}}"#,
                    environment: ["SSL_CERT_FILE": certificate, "CURL_CA_BUNDLE": certificate])
                let trusted = folder.hasPrefix("/") ? folder : layover.folder.file(folder).path
                return try await layover.client(
                    "curl", "--silent", "--show-error", "--cacert", trusted + "/ca.pem", "https://localhost:\(origin.port)/echo"
                ).succeed(within: .seconds(20)).output
            }
            #expect(try await answer(folder: folder).contains(#""kind":"tls_certificate_error""#))
            #expect(origin.records.isEmpty)
            #expect(try await answer(folder: "another").contains(#""target": "/echo""#))
        }
    }
}
