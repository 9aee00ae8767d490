import Foundation

/// A private certificate authority, made by the `openssl` command, and one identity it has signed.
package struct TestAuthority: Sendable {
    package struct Identity: Sendable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
    }

    /// The file of the authority's own certificate, for `tls.caFile` and `curl --cacert`.
    package let certificate: String
    /// Valid for localhost and 127.0.0.1.
    package let identity: Identity

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    package init(in folder: TemporaryFolder) async throws {
        let key = folder.file("ca.key").path
        certificate = folder.file("ca.pem").path
        try await Command("openssl", ["req", "-x509", "-days", "2", "-subj", "/CN=Layover test authority"] + Self.newKey
            + ["-keyout", key, "-out", certificate]).succeed()
        identity = try await Self.identity(in: folder, signedBy: certificate, key: key)
    }

    /// A certificate for localhost and 127.0.0.1, of an authority that is there already.
    package static func identity(
        in folder: TemporaryFolder, signedBy certificate: String, key: String
    ) async throws -> Identity {
        let names = ["origin.key", "origin.csr", "origin.pem", "origin.srl"].map { folder.file($0).path }
        let extensions = try folder.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n", to: "origin.ext")
        try await Command("openssl", ["req", "-subj", "/CN=localhost"] + newKey + ["-keyout", names[0], "-out", names[1]]).succeed()
        try await Command("openssl", [
            "x509", "-req", "-days", "2", "-in", names[1], "-CA", certificate, "-CAkey", key,
            "-CAcreateserial", "-CAserial", names[3], "-extfile", extensions, "-out", names[2],
        ]).succeed()
        return Identity(certificate: names[2], key: names[0])
    }
}
