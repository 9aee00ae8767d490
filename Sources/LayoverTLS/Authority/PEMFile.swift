import Glibc
import LayoverSystem

/// The files of certificates and keys: `PrivateFile` with a `CertificateError` as the error.
enum PEMFile {
    /// Most bytes of a file; no certificate or key is larger. Default: 1 MiB.
    private static let byteCountMax = 1 << 20

    /// Reads a whole file. A symbolic link is followed: certificates are often links to the current ones.
    ///
    /// - Parameter isSecret: True: others who may read or write the file are an error. Default: false.
    static func contents(of path: String, isSecret: Bool = false) throws(CertificateError) -> [UInt8] {
        let content: PrivateFile.Content
        do throws(PrivateFileError) {
            content = try PrivateFile.read(path, byteCountMax: byteCountMax)
        } catch {
            switch error.step {
            case .kind: throw CertificateError(.io, "\(path) is no file.")
            case .size: throw CertificateError(.malformed, "\(path) is too large.")
            default: throw CertificateError(error.code == ENOENT ? .missing : .io, "\(path) cannot be read: \(error.reason).")
            }
        }
        if isSecret, content.mode & 0o077 != 0 {
            throw CertificateError(
                .permissions, "Others can read or change the key in \(path) (mode \(octal(content.mode))). Set its mode to 600.")
        }
        return content.bytes
    }

    /// Replaces a file, which is on disk when this returns. The caller holds a lock against other writers.
    static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(CertificateError) {
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: path, mode: mode, writers: .one)
        } catch {
            if error.step == .create { throw CertificateError(.io, "\(error.path) cannot be made: \(error.reason).") }
            throw CertificateError(.io, "\(path) cannot be written: \(error.reason).")
        }
    }

    static func text(_ code: CInt) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}
