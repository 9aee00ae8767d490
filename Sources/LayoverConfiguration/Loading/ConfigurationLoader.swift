import Foundation
import LayoverSystem
import LayoverText

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

/// The only place that reads files.
enum ConfigurationFile {
    /// More is no configuration. 16 MiB.
    static let byteCountMax = 16 << 20

    static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
        do throws(PrivateFileError) {
            // A shell gives a pipe for `--config <(command)`.
            return try PrivateFile.read(path, byteCountMax: byteCountMax, acceptsPipes: true).bytes
        } catch {
            let reason = error.step == .size ? "the file exceeds 16 MiB" : error.reason
            throw ConfigurationError(source: path, path: "", message: "cannot be read: \(reason)")
        }
    }
}

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

/// Everything that is wrong with a configuration, in the order of sources and paths. Never empty.
package struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    package var errors: [ConfigurationError]

    /// One line for each.
    package var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a configuration.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source of the error: the file as it was named, an environment variable, or `command line`.
    package var source: String
    /// The key: `policies.slow.delay.initial`. Empty when the file as a whole is meant.
    package var path: String
    /// The error, without a full stop. Never holds a secret.
    package var message: String

    /// One line, whatever characters stand in names and values.
    package var description: String {
        EscapedText.visible(path.isEmpty ? "\(source): \(message)." : "\(source): \(path): \(message).")
    }
}
