import ArgumentParser
import Foundation
import LayoverConfiguration
import LayoverTrust

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
            notAfter: certificate.notAfter.formatted(.iso8601),
            stores: presence.map { store, state in
                let reason: String? = if case .unknown(let reason) = state { reason } else { nil }
                return Document.Store(
                    kind: store.kind.rawValue, place: store.place, trusted: reason == nil ? state == .trusted : nil, reason: reason)
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        StandardOutput.write(Terminal.safeJSON(String(decoding: try encoder.encode(document), as: UTF8.self)))
    }

    private static func text(_ presence: TrustPresence) -> String {
        switch presence {
        case .trusted: "trusted"
        case .absent: "not trusted"
        case .unknown(let reason): "unknown: \(reason)"
        }
    }
}
