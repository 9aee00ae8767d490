import COpenSSL
import Glibc
import LayoverSystem

/// Certificates as text with Base64 between lines of dashes (RFC 7468).
package enum PEM {
    private static let labels = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]

    /// The DER form of every certificate in the text. Damaged certificates and other contents are skipped.
    package static func certificates(in text: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var content: [UInt8]?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = trimmed(String(decoding: line.prefix(64), as: UTF8.self))
            if labels.contains(where: { words == "-----BEGIN \($0)-----" }) {
                content = []
            } else if words.hasPrefix("-----") {
                if let content, let der = decoded(content) { found.append(der) }
                content = nil
            } else {
                content?.append(contentsOf: line)
            }
        }
        return found
    }

    package static func text(of der: [UInt8]) -> String {
        let digits = Array(Base64.text(der).utf8)
        let lines = stride(from: 0, to: digits.count, by: 64).map { start in
            String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self)
        }
        return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }

    private static func trimmed(_ line: String) -> String {
        var rest = line.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        // Ends of lines are skipped, and everything else that is not Base64.
        let digits = text.filter { Base64.isDigit($0) || $0 == UInt8(ascii: "=") }
        // Base64 without its padding is damaged.
        guard digits.count.isMultiple(of: 4), let bytes = Base64.bytes(String(decoding: digits, as: UTF8.self)) else { return nil }
        return firstElement(of: bytes)
    }

    /// The sequence at the start of the bytes (X.690). OpenSSL's trusted certificates have more bytes behind it.
    private static func firstElement(of bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > 4, bytes[0] == 0x30 else { return nil }
        guard bytes[1] >= 0x80 else { return prefix(of: bytes, 2 + Int(bytes[1])) }
        let count = Int(bytes[1] & 0x7F)
        guard (1...3).contains(count), bytes.count > 2 + count else { return nil }
        return prefix(of: bytes, 2 + count + bytes[2..<(2 + count)].reduce(0) { $0 << 8 + Int($1) })
    }

    private static func prefix(of bytes: [UInt8], _ count: Int) -> [UInt8]? {
        count <= bytes.count ? Array(bytes.prefix(count)) : nil
    }
}

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

/// Bytes in memory that OpenSSL reads or writes like a file (BIO_s_mem(3)).
enum MemoryBIO {
    static func read<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value?) -> Value? {
        bytes.withUnsafeBytes { memory -> Value? in
            ERR_clear_error()
            guard let bio = BIO_new_mem_buf(memory.baseAddress, CInt(clamping: memory.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// Empty: OpenSSL has no memory.
    static func written(_ body: (OpaquePointer) -> CInt) -> [UInt8] {
        guard let bio = layover_bio_in_memory() else { return [] }
        defer { BIO_free(bio) }
        guard body(bio) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: layover_bio_byte_count(bio))
        let count = bytes.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress, CInt(clamping: $0.count)) }
        return Array(bytes.prefix(max(0, Int(count))))
    }
}
