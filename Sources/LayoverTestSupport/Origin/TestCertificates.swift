package import Foundation

/// A private CA and a server certificate of it, made by the openssl command when a test needs them.
package final class TestCertificates: Sendable {
    package struct Failed: Error { package var arguments: [String] }

    package let folder: URL
    package var caFile: String { folder.appendingPathComponent("ca.pem").path }
    package var serverFile: String { folder.appendingPathComponent("server.pem").path }
    package var serverKeyFile: String { folder.appendingPathComponent("server.key").path }

    /// - Parameter names: The certificate's subjectAltName, as openssl spells it.
    package init(names: String = "IP:127.0.0.1") throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("layover-certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("subjectAltName=\(names)\n".utf8)
            .write(to: folder.appendingPathComponent("names.txt"))
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try run(
            [
                "req", "-x509", "-days", "2", "-subj", "/CN=Layover test CA", "-keyout", "ca.key", "-out",
                "ca.pem",
            ] + key)
        try run(["req", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"] + key)
        try run([
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names.txt", "-out", "server.pem",
        ])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

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
