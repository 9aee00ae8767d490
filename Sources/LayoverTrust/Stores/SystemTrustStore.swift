import Foundation
package import LayoverTLS

/// The store of Debian and Ubuntu: files in `/usr/local/share/ca-certificates`, joined by update-ca-certificates(8).
package struct SystemTrustStore: TrustStore {
    package static let folder = "/usr/local/share/ca-certificates"
    package static let bundle = "/etc/ssl/certs/ca-certificates.crt"

    package let kind = TrustStoreKind.system
    package var place: String { Self.folder }
    private let environment: [String: String]
    private let command: String

    /// Nil: this system has no such store.
    package init?(environment: [String: String]) {
        guard let command = ToolRun.find("update-ca-certificates", environment: environment),
            access(Self.bundle, F_OK) == 0
        else { return nil }
        (self.command, self.environment) = (command, environment)
    }

    package func presence(of certificate: Certificate) -> TrustPresence {
        guard let inForce = BoundedFile.certificates(Self.bundle) else { return .unknown("\(Self.bundle) cannot be read") }
        return inForce.contains(certificate.der) ? .trusted : .absent
    }

    package func add(_ certificate: Certificate) throws(TrustObstacle) {
        guard geteuid() == 0 else { throw .needsRoot }
        let file = file(for: certificate)
        do throws(TrustError) {
            try BoundedFile.makeFolder(Self.folder, mode: 0o755)
            try BoundedFile.write(Array(certificate.pem.utf8), to: file)
        } catch {
            throw .failed(error.message)
        }
        try update([])
    }

    package func remove(_ certificate: Certificate) throws(TrustObstacle) {
        let files = files(of: certificate)
        // Somebody else put it there, under `/usr/share/ca-certificates` perhaps.
        guard !files.isEmpty else { throw .failed("it is in \(Self.bundle), but not by a file in \(Self.folder)") }
        guard geteuid() == 0 else { throw .needsRoot }
        for file in files where unlink(file) != 0 { throw .failed("cannot remove \(file): \(String(cString: strerror(errno)))") }
        // Without it, links to the file stay behind in /etc/ssl/certs.
        try update(["--fresh"])
    }

    package func linesToAdd(_ certificate: Certificate, file: String) -> [String] {
        ["sudo install -D -m 0644 \(ShellWord.quoted(file)) \(self.file(for: certificate)) && sudo update-ca-certificates"]
    }

    package func linesToRemove(_ certificate: Certificate) -> [String] {
        let files = files(of: certificate).map(ShellWord.quoted).joined(separator: " ")
        return ["sudo rm -f \(files) && sudo update-ca-certificates --fresh"]
    }

    private func update(_ arguments: [String]) throws(TrustObstacle) {
        let result = ToolRun.run(command, arguments, environment: environment)
        guard result.status == 0 else { throw .failed("update-ca-certificates: \(result.complaint)") }
    }

    /// `layover.crt`, unless another authority has that name.
    private func file(for certificate: Certificate) -> String {
        let usual = "\(Self.folder)/layover.crt"
        let isTaken = access(usual, F_OK) == 0 && Certificate(file: usual)?.der != certificate.der
        return isTaken ? "\(Self.folder)/layover-\(certificate.fingerprint.prefix(16)).crt" : usual
    }

    /// The files with this very certificate, whatever their names are.
    private func files(of certificate: Certificate) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Self.folder)) ?? []
        return names.sorted().prefix(BoundedFile.fileCountMax).map { "\(Self.folder)/\($0)" }.filter { path in
            BoundedFile.contents(path).map(PEM.certificates) == [certificate.der]
        }
    }
}

/// Words of a command line that people copy into a POSIX shell.
enum ShellWord {
    static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "/._-:+,=@".utf8.contains(byte)
        }
        return plain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
