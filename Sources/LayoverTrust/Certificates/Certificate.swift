import COpenSSL
package import Foundation
import LayoverSystem
import LayoverText

/// An X.509 certificate (RFC 5280), as far as people and trust stores have to know it.
package struct Certificate: Sendable, Hashable {
    package let der: [UInt8]
    /// As RFC 4514 writes it: `CN=Layover on laptop,O=Layover`.
    package let subject: String
    package let notAfter: Date
    /// SHA-256 of the DER form, in hexadecimal digits of lower case.
    package let fingerprint: String

    /// Nil: the bytes are no certificate.
    package init?(der: [UInt8]) {
        let parsed = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_X509(nil, &position, bytes.count)
        }
        ERR_clear_error()
        guard let parsed, let digest = try? SHA256.digest(of: der), let end = Self.date(X509_get0_notAfter(parsed)) else { return nil }
        defer { X509_free(parsed) }
        self.der = der
        subject = Self.text(X509_get_subject_name(parsed))
        notAfter = end
        fingerprint = Hexadecimal.text(of: digest)
    }

    /// The first certificate of a PEM file. Nil: it cannot be read, or there is none in it.
    package init?(file: String) {
        guard let text = BoundedFile.contents(file), let der = PEM.certificates(in: text).first else { return nil }
        self.init(der: der)
    }

    package var pem: String { PEM.text(of: der) }

    /// The fingerprint as browsers and `openssl x509 -fingerprint` show it.
    package var fingerprintForPeople: String {
        let digits = Array(fingerprint.uppercased())
        return stride(from: 0, to: digits.count, by: 2).map { String(digits[$0..<min($0 + 2, digits.count)]) }.joined(separator: ":")
    }

    /// What the certificate is called in trust stores that want a name. Two authorities of Layover have two names.
    package var nickname: String { "Layover CA \(fingerprint.prefix(16))" }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let output = layover_bio_in_memory() else { return "" }
        defer { BIO_free(output) }
        layover_x509_name_write(output, name)
        var bytes = [UInt8](repeating: 0, count: layover_bio_byte_count(output))
        let count = BIO_read(output, &bytes, Int32(clamping: bytes.count))
        return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
    }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}
