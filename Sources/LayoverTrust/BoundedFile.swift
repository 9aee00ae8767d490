import Foundation
import LayoverSystem
package import LayoverTLS

/// Files that others wrote: read up to a limit, and written in one piece.
package enum BoundedFile {
    /// Most bytes read of one file: fifty times Debian's bundle. Default: 16 MiB.
    static let byteCountMax = 16 << 20
    /// Most files read of one folder. Default: 4 096.
    static let fileCountMax = 4096

    /// Nil: there is no such regular file, it cannot be read, or it is longer than the limit.
    package static func contents(_ path: String) -> [UInt8]? {
        try? PrivateFile.read(path, byteCountMax: byteCountMax).bytes
    }

    package static func text(_ path: String) -> String? { contents(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The certificates of a file, or of all files of a folder as OpenSSL's `-CApath` means it.
    static func certificates(_ path: String) -> [[UInt8]]? {
        if let contents = contents(path) { return PEM.certificates(in: contents) }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        return names.sorted().prefix(fileCountMax).flatMap { contents("\(path)/\($0)").map(PEM.certificates) ?? [] }
    }

    /// Replaces a file. A file that has these bytes and this mode already is left as it is, but for its time.
    ///
    /// - Parameter mode: Permissions, whatever the umask is. Default: 0644.
    /// - Throws: A `TrustError` that names the file.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws(TrustError) {
        var facts = stat()
        if stat(path, &facts) == 0, facts.st_mode & 0o777 == mode, contents(path) == bytes, utimes(path, nil) == 0 { return }
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: path, mode: mode)
        } catch {
            throw TrustError("cannot write \(path): \(error.reason)")
        }
    }

    /// Makes the folder, with those above it.
    static func makeFolder(_ path: String, mode: Int) throws(TrustError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        } catch {
            throw TrustError("cannot make the folder \(path): \(String(cString: strerror(errno)))")
        }
    }
}

extension Certificate {
    /// The first certificate of a PEM file. Nil: it cannot be read, or there is none in it.
    package convenience init?(file: String) {
        guard let text = BoundedFile.contents(file), let der = PEM.certificates(in: text).first else { return nil }
        self.init(der: der)
    }
}

/// What cannot be done to a trust store or to a file, as a sentence without full stop.
package struct TrustError: Error, Sendable, Hashable {
    package var message: String

    package init(_ message: String) { self.message = message }
}

/// The authorities that the system trusts, as one PEM file.
enum SystemBundle {
    /// Debian and Ubuntu, Fedora, openSUSE, Alpine: the places that Go's crypto/x509 looks at (root_linux.go).
    static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    static func certificates() -> [[UInt8]] { places.lazy.compactMap(BoundedFile.certificates).first { !$0.isEmpty } ?? [] }
}
