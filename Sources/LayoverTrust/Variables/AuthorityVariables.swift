import Foundation
package import LayoverTLS

/// The variables that make programs trust Layover's authority, in addition to the authorities that they trusted before.
///
/// Some variables add to the authorities that a program trusts. Their file has Layover's authority and the certificates that the variable
/// named before. Other variables replace these authorities. Their file has the authorities of the system, too, because hosts that are not
/// intercepted show certificates of those.
package struct AuthorityVariables: Sendable {
    private let authority: Certificate
    private let files: GeneratedFiles

    /// - Parameters:
    ///   - folder: The folder of the authority. The generated files are in `clients` below it, if they can be.
    ///   - environment: The variables that say where this user keeps files that can be made again.
    package init(
        authority: Certificate, folder: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.authority = authority
        files = GeneratedFiles(authorityFolder: folder, fingerprint: authority.fingerprint, environment: environment)
    }

    init(authority: Certificate, files: GeneratedFiles) { (self.authority, self.files) = (authority, files) }

    /// Writes the files, and gives the variables.
    ///
    /// - Parameters:
    ///   - environment: The variables that are set now. Where a value is Layover's own, the value before it counts.
    ///   - proxyURL: The URL of the proxy. It is needed because Java takes proxy and authorities in one variable.
    package func exports(
        over environment: [String: String], proxyURL: String
    ) throws(TrustError) -> [(name: String, value: String)] {
        let before = Self.restored(environment)
        let system = SystemBundle.certificates()
        var result: [(name: String, value: String)] = []
        for variable in AuthorityVariable.all {
            let own = before.nonempty(variable.name)
            let inherited = variable.otherwise.lazy.compactMap { before.nonempty($0) }.first
                ?? SettingsFile.authority(for: variable.name, environment: before)
            result.append((variable.name, try write(variable.effect, before: own, inherited: inherited, system: system)))
        }
        let bundle = result.first { $0.name == "CURL_CA_BUNDLE" }?.value ?? ""
        result.append(("WGETRC", try writeWgetSettings(over: before, system: system)))
        if before.nonempty("APT_CONFIG") == nil { result.append(("APT_CONFIG", try writeAptSettings(bundle))) }
        let php = PHPSettings(files: files)
        result.append((PHPSettings.name, try php.write(bundle: bundle, before: before.nonempty(PHPSettings.name))))
        let store = try JavaRoots(files: files, environment: before).write(with: authority, system: system)
        let noProxy = before.nonempty("no_proxy") ?? before.nonempty("NO_PROXY")
        if let options = JavaOptions(proxyURL: proxyURL, noProxy: noProxy, trustStore: store) {
            result.append((JavaOptions.name, options.added(to: before[JavaOptions.name])))
        }
        return result
    }

    private func write(
        _ effect: AuthorityVariable.Effect, before: String?, inherited: String?, system: [[UInt8]]
    ) throws(TrustError) -> String {
        let named = (before ?? (effect == .replaces ? inherited : nil)).flatMap(BoundedFile.certificates) ?? []
        switch effect {
        case .adds:
            return try files.write(text(named + [authority.der]), name: "authority", extension: "pem", before: before)
        case .replaces:
            return try files.write(
                text(system + named + [authority.der]), name: "bundle", extension: "pem", before: before, inherited: inherited)
        }
    }

    /// Each certificate once.
    private func text(_ certificates: [[UInt8]]) -> String {
        var seen: Set<[UInt8]> = []
        return certificates.filter { seen.insert($0).inserted }.map(PEM.text).joined()
    }

    // MARK: Files of settings

    /// GnuTLS reads no variable. `WGETRC` takes the place of `~/.wgetrc`, so what is in there comes first.
    private func writeWgetSettings(over before: [String: String], system: [[UInt8]]) throws(TrustError) -> String {
        let own = before.nonempty("WGETRC")
        let file = own ?? before.nonempty("HOME").map { "\($0)/.wgetrc" }
        let settings = file.flatMap(BoundedFile.text) ?? ""
        let named = SettingsFile.value("ca_certificate", in: settings)
        let bundle = try write(.replaces, before: nil, inherited: named ?? before.nonempty("SSL_CERT_FILE"), system: system)
        let text = settings + (settings.isEmpty || settings.hasSuffix("\n") ? "" : "\n") + "ca_certificate = \(bundle)\n"
        return try files.write(text, name: "wgetrc", extension: "conf", before: own, inherited: file, source: file)
    }

    /// apt reads this before its own files (apt.conf(5)). Its methods give up after 30 s otherwise.
    private func writeAptSettings(_ bundle: String) throws(TrustError) -> String {
        let text = """
            Acquire::https::CAInfo "\(bundle)";
            Acquire::http::Timeout "600";
            Acquire::https::Timeout "600";

            """
        return try files.write(text, name: "apt", extension: "conf", before: nil, inherited: bundle)
    }

    // MARK: Taking back

    /// The environment as it was before these variables were set.
    package static func restored(_ environment: [String: String]) -> [String: String] {
        var result = environment
        for (name, value) in changes(takingBack: environment) { result[name] = value }
        return result
    }

    /// What has to change to take the variables back: the value of before, or nil where there was none.
    package static func changes(takingBack environment: [String: String]) -> [(name: String, value: String?)] {
        let names = AuthorityVariable.all.map(\.name) + ["WGETRC", "APT_CONFIG"]
        var changes: [(name: String, value: String?)] = names.compactMap { name in
            guard let path = environment[name], case .was(let value) = GeneratedFiles.former(of: path) else { return nil }
            return (name, value)
        }
        if let value = environment[PHPSettings.name], case .was(let former) = PHPSettings.former(of: value) {
            changes.append((PHPSettings.name, former))
        }
        let options = environment[JavaOptions.name]
        let former = JavaOptions.without(options)
        if options != former { changes.append((JavaOptions.name, former)) }
        return changes
    }
}

extension [String: String] {
    /// The value of a variable; nil if it is unset or empty.
    func nonempty(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
