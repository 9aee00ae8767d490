import Foundation
import LayoverTLS

/// The trust store for Java: whom its own store trusts, and the authority.
struct JavaRoots {
    private static let passwordVariable = "LAYOVER_STORE_PASSWORD"

    let files: GeneratedFiles
    let environment: [String: String]

    /// Where a Java option or the runtime has a store, that one counts; otherwise the system's authorities.
    ///
    /// - Returns: The path of the file.
    func write(with authority: Certificate, system: [[UInt8]]) throws(TrustError) -> String {
        let options = environment[JavaOptions.name]
        let home = JavaHomes.all(environment: environment).first
        let named = JavaOptions.property("javax.net.ssl.trustStore", in: options).flatMap { $0 == "NONE" ? nil : $0 }
        let store = named ?? home.flatMap(JavaHomes.trustStore)
        let password = JavaOptions.property("javax.net.ssl.trustStorePassword", in: options) ?? JavaTrustStore.password
        var roots = system
        if let store, let home, let own = try certificates(of: store, password: password, keytool: "\(home)/bin/keytool") { roots = own }
        if !roots.contains(authority.der) { roots.append(authority.der) }
        return try files.write(JavaTrustStoreFile.bytes(roots), name: "java", extension: "p12", inherited: named)
    }

    /// keytool reads every kind of store, and takes half a second. So what it said is kept as long as the store's file is the same.
    private func certificates(of store: String, password: String, keytool: String) throws(TrustError) -> [[UInt8]]? {
        var facts = stat()
        guard stat(store, &facts) == 0 else { return nil }
        let origin = "\(store) \(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec) \(facts.st_size)"
        if let text = files.text(name: "java-store", extension: "txt", before: origin) {
            let known = PEM.certificates(in: text)
            if !known.isEmpty { return known }
        }
        // Arguments are there for everybody to read (proc(5)).
        let words = ["-list", "-rfc", "-keystore", store, "-storepass:env", Self.passwordVariable]
        let run = ToolRun.run(keytool, words, environment: environment, more: [Self.passwordVariable: password])
        let found = PEM.certificates(in: Array(run.output.utf8))
        guard run.status == 0, !found.isEmpty else { return nil }
        _ = try files.write(found.map(PEM.text).joined(), name: "java-store", extension: "txt", before: origin)
        return found
    }
}

/// A trust store that every Java from 8 on reads: PKCS #12 (RFC 7292) with certificates only, neither encrypted nor sealed by a password,
/// because there is nothing secret in it.
package enum JavaTrustStoreFile {
    private static let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let certificateBag: [UInt8] = [0x06, 0x0B, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x03]
    private static let certificate: [UInt8] = [0x06, 0x0A, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x16, 0x01]
    private static let friendlyName: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x14]
    /// 2.16.840.1.113894.746875.1.1, without which Java does not trust an entry (sun.security.pkcs12.PKCS12KeyStore).
    private static let trustedKeyUsage: [UInt8] = [
        0x06, 0x0C, 0x60, 0x86, 0x48, 0x01, 0x86, 0xF9, 0x66, 0xAD, 0xCA, 0x7B, 0x01, 0x01,
    ]
    private static let anyUsage: [UInt8] = [0x06, 0x04, 0x55, 0x1D, 0x25, 0x00]
    private static let version3: [UInt8] = [0x02, 0x01, 0x03]

    /// - Parameter certificates: In DER form. The same ones in the same order give the same bytes.
    package static func bytes(_ certificates: [[UInt8]]) -> [UInt8] {
        var bags: [UInt8] = []
        for (index, one) in certificates.enumerated() { bags += bag(one, name: "layover-\(index)") }
        let safe = DER.element(0x30, bags)
        let authenticated = DER.sequence(content(safe))
        return DER.sequence(version3, content(authenticated))
    }

    /// A ContentInfo that holds plain data.
    private static func content(_ bytes: [UInt8]) -> [UInt8] {
        DER.sequence(data, DER.element(0xA0, DER.element(0x04, bytes)))
    }

    private static func bag(_ der: [UInt8], name: String) -> [UInt8] {
        let letters = name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let attributes = DER.element(
            0x31,
            DER.sequence(friendlyName, DER.element(0x31, DER.element(0x1E, letters))),
            DER.sequence(trustedKeyUsage, DER.element(0x31, anyUsage)))
        let value = DER.sequence(certificate, DER.element(0xA0, DER.element(0x04, der)))
        return DER.sequence(certificateBag, DER.element(0xA0, value), attributes)
    }
}

/// The few encodings of ASN.1 that a trust store needs (X.690).
private enum DER {
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
