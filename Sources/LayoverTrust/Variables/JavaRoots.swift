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
        let answer = ToolRun.run(keytool, words, environment: environment, more: [Self.passwordVariable: password])
        let found = PEM.certificates(in: Array(answer.output.utf8))
        guard answer.status == 0, !found.isEmpty else { return nil }
        _ = try files.write(found.map(PEM.text).joined(), name: "java-store", extension: "txt", before: origin)
        return found
    }
}
