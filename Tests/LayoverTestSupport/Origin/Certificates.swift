package import Foundation

/// A private CA that issues what a test needs, by the openssl command.
package final class CertificateMaker: Sendable {
    package struct Failed: Error { package var arguments: [String] }

    package let folder: URL
    package var caFile: String { path("ca.pem") }

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("layover-certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try makeRoot("ca", subject: "/CN=Layover test CA")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// How a key is made.
    package enum Key: Sendable {
        case usual, weak

        var arguments: [String] {
            switch self {
            case .usual: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            case .weak: ["-newkey", "rsa:1024", "-nodes"]
            }
        }
    }

    /// A certificate that has signed itself: `name.pem` and `name.key`.
    package func makeRoot(_ name: String, subject: String, extensions: [String] = []) throws {
        try run(
            ["req", "-x509", "-days", "2", "-subj", subject, "-keyout", "\(name).key", "-out", "\(name).pem"]
                + extensions.flatMap { ["-addext", $0] } + Key.usual.arguments)
    }

    /// A certificate of an issuer: `name.pem` and `name.key`.
    ///
    /// - Parameters:
    ///   - extensions: Lines of an openssl extension file (x509v3_config(5)).
    ///   - validity: First and last second, `YYYYMMDDHHMMSSZ`. Default (nil): from now on for two days.
    package func issue(
        _ name: String, by issuer: String = "ca", subject: String = "/CN=server", extensions: [String], key: Key = .usual,
        validity: (String, String)? = nil, digest: String = "-sha256"
    ) throws {
        try run(["req", "-subj", subject, "-keyout", "\(name).key", "-out", "\(name).csr"] + key.arguments)
        try Data((extensions.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("\(name).txt"))
        if let validity {
            // `x509 -req` of OpenSSL 3.0 knows no dates; `ca` does.
            try Data().write(to: folder.appendingPathComponent("index.txt"))
            try Data(Self.configuration.utf8).write(to: folder.appendingPathComponent("ca.cnf"))
            try run([
                "ca", "-batch", "-config", "ca.cnf", "-in", "\(name).csr", "-cert", "\(issuer).pem", "-keyfile", "\(issuer).key",
                "-startdate", validity.0, "-enddate", validity.1, "-extfile", "\(name).txt", "-notext", "-out", "\(name).pem",
            ])
        } else {
            try run([
                "x509", "-req", "-in", "\(name).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-CAcreateserial", "-days", "2",
                digest, "-extfile", "\(name).txt", "-out", "\(name).pem",
            ])
        }
    }

    /// Configuration for `openssl ca` (ca(1ssl)).
    private static let configuration = """
        [ca]
        default_ca=c
        [c]
        database=index.txt
        rand_serial=yes
        new_certs_dir=.
        policy=p
        default_md=sha256
        [p]
        commonName=supplied

        """

    private func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
    }
}

/// A private CA and a server certificate of it, made when a test needs them.
package final class TestCertificates: Sendable {
    private let maker: CertificateMaker
    package var caFile: String { maker.caFile }
    package var serverFile: String { maker.path("server.pem") }
    package var serverKeyFile: String { maker.path("server.key") }

    /// - Parameter names: The certificate's subjectAltName, as openssl spells it.
    package init(names: String = "IP:127.0.0.1") throws {
        maker = try CertificateMaker()
        try maker.issue("server", extensions: ["subjectAltName=\(names)"])
    }
}

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

    package init(in folder: TemporaryFolder) async throws {
        let key = folder.file("ca.key").path
        certificate = folder.file("ca.pem").path
        try await Command(
            "openssl",
            ["req", "-x509", "-days", "2", "-subj", "/CN=Layover test authority"] + CertificateMaker.Key.usual.arguments
                + ["-keyout", key, "-out", certificate]
        ).succeed()
        identity = try await Self.identity(in: folder, signedBy: certificate, key: key)
    }

    /// A certificate for localhost and 127.0.0.1, of an authority that is there already.
    package static func identity(
        in folder: TemporaryFolder, signedBy certificate: String, key: String
    ) async throws -> Identity {
        let names = ["origin.key", "origin.csr", "origin.pem", "origin.srl"].map { folder.file($0).path }
        let extensions = try folder.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n", to: "origin.ext")
        try await Command(
            "openssl",
            ["req", "-subj", "/CN=localhost"] + CertificateMaker.Key.usual.arguments + ["-keyout", names[0], "-out", names[1]]
        ).succeed()
        try await Command(
            "openssl",
            [
                "x509", "-req", "-days", "2", "-in", names[1], "-CA", certificate, "-CAkey", key,
                "-CAcreateserial", "-CAserial", names[3], "-extfile", extensions, "-out", names[2],
            ]
        ).succeed()
        return Identity(certificate: names[2], key: names[0])
    }
}
