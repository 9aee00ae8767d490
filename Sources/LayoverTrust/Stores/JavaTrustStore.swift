import Foundation
package import LayoverTLS

/// The trust store of a Java runtime, a file `cacerts`.
///
/// - SeeAlso: keytool(1)
package struct JavaTrustStore: TrustStore {
    /// What every JDK is delivered with; the file is no secret.
    static let password = "changeit"

    package let kind = TrustStoreKind.java
    package let place: String
    /// Debian makes this one of the system's by a hook of update-ca-certificates (ca-certificates-java).
    package var followsSystem: Bool { place == "/etc/ssl/certs/java/cacerts" }
    private let keytool: String
    private let environment: [String: String]

    init(_ file: String, keytool: String, environment: [String: String]) {
        (place, self.keytool, self.environment) = (file, keytool, environment)
    }

    /// The stores of the Java that `JAVA_HOME` and `PATH` name and of those in `/usr/lib/jvm`, each file once: Debian's share one.
    package static func all(environment: [String: String]) -> [JavaTrustStore] {
        var seen: Set<String> = []
        return JavaHomes.all(environment: environment).compactMap { home in
            guard let file = JavaHomes.trustStore(of: home), seen.insert(file).inserted else { return nil }
            return JavaTrustStore(file, keytool: "\(home)/bin/keytool", environment: environment)
        }
    }

    package func presence(of certificate: Certificate) -> TrustPresence {
        let result = run(["-list"])
        guard result.status == 0 else { return .unknown("keytool: \(result.complaint)") }
        return Self.aliases(of: certificate, in: result.output).isEmpty ? .absent : .trusted
    }

    package func add(_ certificate: Certificate) throws(TrustObstacle) {
        try checkRights()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("layover-\(UUID().uuidString).pem").path
        do throws(TrustError) { try BoundedFile.write(Array(certificate.pem.utf8), to: file) } catch { throw .failed(error.message) }
        defer { unlink(file) }
        let result = run(["-importcert", "-noprompt", "-alias", Self.alias(certificate), "-file", file])
        guard result.status == 0 else { throw .failed("keytool: \(result.complaint)") }
    }

    package func remove(_ certificate: Certificate) throws(TrustObstacle) {
        try checkRights()
        for alias in Self.aliases(of: certificate, in: run(["-list"]).output) {
            let result = run(["-delete", "-alias", alias])
            guard result.status == 0 else { throw .failed("keytool: \(result.complaint)") }
        }
    }

    package func linesToAdd(_ certificate: Certificate, file: String) -> [String] {
        ["sudo \(line("-importcert -noprompt")) -alias \(Self.alias(certificate)) -file \(ShellWord.quoted(file))"]
    }

    package func linesToRemove(_ certificate: Certificate) -> [String] {
        let aliases = Self.aliases(of: certificate, in: run(["-list"]).output)
        return aliases.map { "sudo \(line("-delete")) -alias \(ShellWord.quoted($0))" }
    }

    private func line(_ order: String) -> String {
        "\(ShellWord.quoted(keytool)) \(order) -keystore \(ShellWord.quoted(place)) -storepass \(Self.password)"
    }

    private func checkRights() throws(TrustObstacle) {
        // keytool writes the file in its place.
        guard access(place, W_OK) == 0 else { throw .needsRoot }
    }

    private func run(_ arguments: [String]) -> ToolRun.Result {
        let words = arguments + ["-keystore", place, "-storepass", Self.password, "-J-Duser.language=en"]
        return ToolRun.run(keytool, words, environment: environment)
    }

    private static func alias(_ certificate: Certificate) -> String { "layover-\(certificate.fingerprint.prefix(16))" }

    /// The aliases of the entries with this fingerprint: `NAME, Nov 24, 2026, trustedCertEntry, ` and the fingerprint on the line below.
    static func aliases(of certificate: Certificate, in listing: String) -> [String] {
        let lines = listing.split(whereSeparator: \.isNewline).map(String.init)
        return zip(lines, lines.dropFirst()).compactMap { entry, fingerprint in
            guard fingerprint.hasSuffix(certificate.fingerprintForPeople) else { return nil }
            // An alias may have commas too.
            return entry.wholeMatch(of: #/(.+), \w+ \d+, \d+, \w+,? */#).map { String($0.1) }
        }
    }
}

/// Where Java is installed.
enum JavaHomes {
    /// The first is the one that programs use.
    static func all(environment: [String: String]) -> [String] {
        var homes: [String] = []
        if let home = environment["JAVA_HOME"], home.hasPrefix("/") { homes.append(home) }
        if let java = ToolRun.find("java", environment: environment) {
            homes.append(folder(above: folder(above: resolved(java))))
        }
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/jvm")) ?? []
        homes += installed.sorted().map { "/usr/lib/jvm/\($0)" }
        return homes.filter { access("\($0)/bin/keytool", X_OK) == 0 }
    }

    /// The file that a runtime trusts by (JSSE Reference Guide, "X509TrustManager"), with links resolved.
    static func trustStore(of home: String) -> String? {
        let folders = ["lib/security", "jre/lib/security"].map { "\(home)/\($0)" }
        let files = folders.flatMap { folder in ["jssecacerts", "cacerts"].map { "\(folder)/\($0)" } }
        return files.first { access($0, R_OK) == 0 }.map(resolved)
    }

    private static func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    private static func folder(above path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }
}
