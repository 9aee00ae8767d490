import Foundation

/// A private certificate authority, made by the `openssl` command, and one identity it has signed.
package struct TestAuthority: Sendable {
    package struct Identity: Sendable {
        package var certificate: String
        package var key: String
    }

    /// The file of the authority's own certificate, for `tls.caFile` and `curl --cacert`.
    package let certificate: String
    /// Valid for localhost and 127.0.0.1.
    package let identity: Identity

    package init(in folder: TemporaryFolder) async throws {
        let names = ["ca.key", "ca.pem", "origin.key", "origin.csr", "origin.pem"].map { folder.file($0).path }
        let extensions = try folder.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n", to: "origin.ext")
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await Command("openssl", ["req", "-x509", "-days", "2", "-subj", "/CN=Layover test authority"] + newKey
            + ["-keyout", names[0], "-out", names[1]]).succeed()
        try await Command("openssl", ["req", "-subj", "/CN=localhost"] + newKey
            + ["-keyout", names[2], "-out", names[3]]).succeed()
        try await Command("openssl", [
            "x509", "-req", "-days", "2", "-in", names[3], "-CA", names[1], "-CAkey", names[0],
            "-CAcreateserial", "-extfile", extensions, "-out", names[4],
        ]).succeed()
        certificate = names[1]
        identity = Identity(certificate: names[4], key: names[2])
    }
}
