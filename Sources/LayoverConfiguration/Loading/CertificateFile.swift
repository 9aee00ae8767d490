import Foundation

/// The check of a file of certificates before anything is started with it.
///
/// libcurl would open it at the first TLS connection only: a file without certificates adds nothing then, without a word, and a
/// damaged one fails every connection.
enum CertificateFile {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// What is wrong with the file, without a full stop. Nil: the file is sound.
    static func complaint(_ path: String) -> String? {
        let bytes: [UInt8]
        do throws(ConfigurationError) {
            bytes = try ConfigurationFile.read(path)
        } catch {
            return "the file \(path) \(error.message)"
        }
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(/(BEGIN|END) (TRUSTED|X509) CERTIFICATE/) { "\($0.output.1) CERTIFICATE" }
        let blocks = text.components(separatedBy: begin).dropFirst()
        guard !blocks.isEmpty else { return "the file \(path) contains no certificate in PEM form (\(begin))" }
        for (index, block) in blocks.enumerated() where !isCertificate(block) {
            return "certificate \(index + 1) in the file \(path) is damaged"
        }
        return nil
    }

    /// - Parameter block: What stands between one line of beginning and the next.
    private static func isCertificate(_ block: String) -> Bool {
        let parts = block.components(separatedBy: end)
        let content = String(parts[0].filter { !$0.isWhitespace })
        guard parts.count == 2, let der = Data(base64Encoded: content) else { return false }
        // A certificate is one sequence (X.690 section 8.1.3). In a block `TRUSTED CERTIFICATE`, more bytes follow the sequence.
        guard der.count > 4, der[0] == 0x30 else { return false }
        guard der[1] >= 0x80 else { return der.count >= 2 + Int(der[1]) }
        let lengthByteCount = Int(der[1] & 0x7F)
        guard (1...3).contains(lengthByteCount) else { return false }
        let length = der[2..<(2 + lengthByteCount)].reduce(0) { $0 << 8 + Int($1) }
        return der.count >= 2 + lengthByteCount + length
    }
}
