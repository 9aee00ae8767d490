import Foundation

/// Certificates in text form (RFC 7468).
package enum PEM {
    private static let labels = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]

    /// The DER form of every certificate in the text. What is damaged, and what is no certificate, is passed over.
    package static func certificates(in text: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var content: [UInt8]?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line.prefix(64), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
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
        "-----BEGIN CERTIFICATE-----\n"
            + Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            + "\n-----END CERTIFICATE-----\n"
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard let data = Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters) else { return nil }
        return DER.firstElement(of: Array(data))
    }
}

/// The few encodings of ASN.1 that are needed here (X.690).
enum DER {
    /// The sequence that the bytes begin with, without what stands behind it: OpenSSL's trusted certificates have more there.
    static func firstElement(of bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > 4, bytes[0] == 0x30 else { return nil }
        guard bytes[1] >= 0x80 else { return prefix(of: bytes, 2 + Int(bytes[1])) }
        let count = Int(bytes[1] & 0x7F)
        guard (1...3).contains(count), bytes.count > 2 + count else { return nil }
        return prefix(of: bytes, 2 + count + bytes[2..<(2 + count)].reduce(0) { $0 << 8 + Int($1) })
    }

    private static func prefix(of bytes: [UInt8], _ count: Int) -> [UInt8]? {
        count <= bytes.count ? Array(bytes.prefix(count)) : nil
    }

    /// One element: its tag, the length of its content, the content.
    static func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let count = content.reduce(0) { $0 + $1.count }
        var length: [UInt8] = [UInt8(truncatingIfNeeded: count)]
        if count >= 0x80 {
            var rest = count
            length = []
            while rest > 0 {
                length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        var bytes = [tag] + length
        bytes.reserveCapacity(bytes.count + count)
        for part in content { bytes += part }
        return bytes
    }

    static func sequence(_ content: [UInt8]...) -> [UInt8] { element(0x30, content.flatMap(\.self)) }
}
