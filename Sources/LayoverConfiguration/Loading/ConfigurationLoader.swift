/// Makes settings of command line, environment, file and defaults; the first that speaks of a key
/// wins.
package enum ConfigurationLoader {
    /// Reads the file, if there is one, and everything above it.
    ///
    /// - Parameters:
    ///   - file: Path of the file; messages name it like this. Nil: there is no file.
    ///   - environment: All variables; only those that begin with `LAYOVER_` are looked at.
    ///   - overrides: Text by dotted path, as the command line has it.
    ///   - activated: Address of the socket that a service manager has bound, which is `proxy.listen` then.
    /// - Throws: All errors, not only the first. Nothing has been started or written.
    package static func load(
        file: String?, environment: [String: String] = [:], overrides: [String: String] = [:], activated: ListenAddress? = nil
    ) throws(ConfigurationErrors) -> LoadedConfiguration {
        guard let file else {
            return try withFiles(load(text: nil, named: "", environment: environment, overrides: overrides, activated: activated))
        }
        let bytes: [UInt8]
        do {
            bytes = try ConfigurationFile.read(file)
        } catch {
            throw ConfigurationErrors(errors: [error])
        }
        return try withFiles(load(text: bytes, named: file, environment: environment, overrides: overrides, activated: activated))
    }

    /// The same, if the files that it names can be used.
    private static func withFiles(_ loaded: LoadedConfiguration) throws(ConfigurationErrors) -> LoadedConfiguration {
        let path = "tls.caFile"
        if let complaint = loaded.settings.tls.caFile.flatMap(CertificateFile.complaint) {
            let source = loaded.sources[path] ?? .standard
            throw ConfigurationErrors(errors: [ConfigurationError(source: source.description, path: path, message: complaint)])
        }
        return loaded
    }

    /// The same without a look at the disk.
    ///
    /// - Parameters:
    ///   - text: The content of the file. Nil: there is no file.
    ///   - name: Path of the file. Relative paths in values start at its folder, in whatever layer
    ///     they stand.
    package static func load(
        text: [UInt8]?, named name: String, environment: [String: String] = [:],
        overrides: [String: String] = [:], activated: ListenAddress? = nil
    ) throws(ConfigurationErrors) -> LoadedConfiguration {
        var given = GivenValues()
        if let text {
            do {
                given.add(file: try JSONParser.parse(text), by: .file(name))
            } catch {
                let message = "not JSON: \(error.description)"
                given.errors.append(ConfigurationError(source: name, path: "", message: message))
            }
        }
        given.add(environment: environment)
        given.add(overrides: overrides)
        if let activated {
            given.set(KeyAddress(section: .global, key: ["proxy", "listen"]), to: .text(activated.description), by: .serviceManager)
        }
        var assembly = Assembly(given)
        assembly.run(folder: FilePath.folder(of: name))
        guard assembly.errors.isEmpty else { throw ConfigurationErrors(errors: assembly.errors) }
        return LoadedConfiguration(
            settings: assembly.settings, entries: assembly.entries(), warnings: assembly.warnings,
            policies: assembly.policies, routes: assembly.routes)
    }
}
