import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverTLS
import LayoverTrust

/// `layover ca`: the certificate authority of interception, and who trusts it. Works alone.
struct Authority: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca", abstract: "Make, show, trust and distrust the certificate authority that interception uses.",
        subcommands: [
            InitAuthority.self, ExportAuthority.self, TrustAuthority.self, UntrustAuthority.self, AuthorityStatus.self,
        ])
}

/// The files of the authority: `ca.pem`, and `ca.key` that only Layover reads.
struct AuthorityFiles {
    /// Absolute: people copy it into commands that run elsewhere.
    let folder: String

    init(_ settings: Settings) {
        let folder = settings.authorityFolder
        self.folder = URL(fileURLWithPath: folder.isEmpty ? "." : folder).standardizedFileURL.path
    }

    var certificateFile: String { "\(folder)/ca.pem" }
    var keyFile: String { "\(folder)/ca.key" }

    /// The certificate of the authority. Nil: there is no such file.
    ///
    /// - Throws: A failure if there is one that cannot be used.
    func find() throws(CommandFailure) -> Certificate? {
        if let certificate = Certificate(file: certificateFile) { return certificate }
        guard access(certificateFile, F_OK) != 0 else {
            throw CommandFailure(code: .usage, message: "tls.folder: \(certificateFile) cannot be read, or is no certificate")
        }
        // Without the right to look into the folder, nothing is known.
        guard errno == ENOENT else {
            throw CommandFailure(code: .usage, message: "tls.folder: \(certificateFile): \(String(cString: strerror(errno)))")
        }
        return nil
    }

    /// The authority, which is made if there is none.
    func findOrMake() throws(CommandFailure) -> (certificate: Certificate, isNew: Bool) {
        if let certificate = try find() { return (certificate, false) }
        do throws(CertificateError) {
            _ = try CertificateAuthority.loadOrMake(folder: folder, now: Int(Date().timeIntervalSince1970))
        } catch {
            throw CommandFailure(code: .usage, message: "tls.folder: \(error)")
        }
        guard let certificate = try find() else {
            throw CommandFailure(code: .usage, message: "tls.folder: no certificate was made in \(folder)")
        }
        return (certificate, true)
    }

    /// - Throws: A failure with exit code 3 if there is none.
    func require() throws(CommandFailure) -> Certificate {
        guard let certificate = try find() else {
            throw CommandFailure(code: .refused, message: "there is no authority in \(folder); layover ca init makes one")
        }
        return certificate
    }

    func facts(_ certificate: Certificate) -> Facts {
        var facts = Facts()
        facts.add("certificate", certificateFile)
        facts.add("subject", certificate.subject)
        facts.add("SHA-256", certificate.fingerprintForPeople)
        facts.add("valid until", Self.day(certificate.end) + (certificate.end < Date() ? " (expired)" : ""))
        return facts
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}

extension Certificate {
    /// The last second of validity.
    fileprivate var end: Date { Date(timeIntervalSince1970: TimeInterval(notAfter)) }
}

/// `layover ca init`
struct InitAuthority: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the certificate authority, if there is none yet.",
        discussion: """
            An authority that is there stays as it is. Its files are ca.pem and ca.key in tls.folder, which is beside the store by default.

            Example: layover ca init
            """)

    @OptionGroup var source: ConfigurationOptions

    func run() throws {
        let files = AuthorityFiles(try source.load().settings)
        let (certificate, isNew) = try files.findOrMake()
        var facts = files.facts(certificate)
        facts.add("private key", "\(files.keyFile) (never copy it to another machine)")
        StandardOutput.write([isNew ? "A certificate authority was made." : "The certificate authority is there already."])
        StandardOutput.write(
            facts.lines + [
                "", "Next:", "  layover ca trust             the system, Chromium, Firefox and Java of this machine trust it",
                "  eval \"$(layover env --ca)\"   programs of this shell trust it, and nothing else changes",
                "  layover ca export            the certificate, for other machines and programs",
            ])
    }
}

/// `layover ca export`
struct ExportAuthority: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case pem, der, p12
    }

    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the certificate of the authority; never its key.",
        discussion: """
            pem is for most programs, der for Android and Windows, p12 is a trust store for Java (without a password).

            Example: layover ca export --output layover.pem
            """)

    @OptionGroup var source: ConfigurationOptions
    @Option(help: "The form of the certificate. Default: pem.") var format: Format = .pem
    @Option(name: [.short, .long], help: "Write to this file. Default: standard output.") var output: String?

    func run() throws {
        let certificate = try AuthorityFiles(try source.load().settings).require()
        let bytes =
            switch format {
            case .pem: Array(certificate.pem.utf8)
            case .der: certificate.der
            case .p12: JavaTrustStoreFile.bytes([certificate.der])
            }
        guard let output, output != "-" else {
            fflush(nil)
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
            return
        }
        do throws(TrustError) {
            try BoundedFile.write(bytes, to: output)
        } catch {
            throw CommandFailure(code: .usage, message: error.message)
        }
    }
}

/// `layover ca status`
struct AuthorityStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the certificate authority and where it is trusted.",
        discussion: """
            The exit code is 3 if there is no authority.

            Example: layover ca status --json
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Print JSON.") var json = false

    private struct Document: Encodable {
        struct Store: Encodable {
            var kind: String
            var place: String
            /// Null: it cannot be found out.
            var trusted: Bool?
            var reason: String?
        }

        var certificate: String
        var subject: String
        var fingerprint: String
        var notAfter: String
        var stores: [Store]
    }

    func run() throws {
        let files = AuthorityFiles(try source.load().settings)
        let certificate = try files.require()
        let stores = TrustChanges.allStores(environment: ProcessInfo.processInfo.environment)
        let presence = TrustChanges(of: certificate, file: files.certificateFile, folder: files.folder, stores: stores).presence()
        guard json else {
            var facts = files.facts(certificate)
            for (store, state) in presence { facts.add("\(store.kind.rawValue) \(store.place)", Self.text(state)) }
            return StandardOutput.write(facts.lines)
        }
        let document = Document(
            certificate: files.certificateFile, subject: certificate.subject, fingerprint: certificate.fingerprint,
            notAfter: certificate.end.formatted(.iso8601),
            stores: presence.map { store, state in
                let reason: String? = if case .unknown(let reason) = state { reason } else { nil }
                return Document.Store(
                    kind: store.kind.rawValue, place: store.place, trusted: reason == nil ? state == .trusted : nil, reason: reason)
            })
        StandardOutput.write(try Terminal.json(document))
    }

    private static func text(_ presence: TrustPresence) -> String {
        switch presence {
        case .trusted: "trusted"
        case .absent: "not trusted"
        case .unknown(let reason): "unknown: \(reason)"
        }
    }
}
