import Glibc

/// Small files that hold certificates and keys.
enum PrivateFile {
    /// No certificate or key is larger. Default: 1 MiB.
    private static let byteCountMax = 1 << 20

    static func contents(of path: String) throws(CertificateError) -> [UInt8] {
        try contents(of: path, isSecret: false)
    }

    /// - Parameter isSecret: Whether nobody else may read or write it.
    static func contents(of path: String, isSecret: Bool) throws(CertificateError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            throw CertificateError(code == ENOENT ? .missing : .io, "\(path) cannot be read: \(text(code)).")
        }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw CertificateError(.io, "\(path) is no file.") }
        if isSecret, facts.st_mode & 0o077 != 0 {
            throw CertificateError(
                .permissions, "Others can read or change the key in \(path) (mode \(octal(facts.st_mode))). Set its mode to 600.")
        }
        guard facts.st_size <= byteCountMax else { throw CertificateError(.malformed, "\(path) is too large.") }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let part = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw CertificateError(.io, "\(path) cannot be read: \(text(errno)).") }
            if part == 0 { break }
            count += part
        }
        return Array(bytes.prefix(count))
    }

    /// Writes a new file beside `path` and puts it in its place, so that a reader finds all of it or nothing.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(CertificateError) {
        let draft = path + ".new"
        unlink(draft)
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw CertificateError(.io, "\(draft) cannot be made: \(text(errno)).") }
        // Whatever the umask is.
        var isWritten = fchmod(file, mode) == 0
        var done = 0
        while isWritten, done < bytes.count {
            let part = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
            if part < 0, errno == EINTR { continue }
            if part > 0 { done += part } else { isWritten = false }
        }
        isWritten = isWritten && fsync(file) == 0
        var code = errno
        close(file)
        if isWritten {
            if rename(draft, path) == 0 { return }
            code = errno
        }
        unlink(draft)
        throw CertificateError(.io, "\(path) cannot be written: \(text(code)).")
    }

    static func text(_ code: CInt) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}
