import Foundation
import LayoverTLS
import LayoverText

/// Certificates that the programs of a shell trust by its variables, besides those of the system.
///
/// With interception the proxy verifies the origins in place of these programs.
package struct ShellTrust: Sendable {
    /// The variables that are read.
    static let names = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]

    /// The variables that name such certificates. Empty: there are none.
    package let variables: [String]
    /// Without those that are known.
    let certificates: [[UInt8]]
    private let known: [[UInt8]]

    /// - Parameters:
    ///   - environment: That of the shell. Values that `layover env --ca` has set count as what was set before.
    ///   - caFile: `tls.caFile`, whose certificates are trusted anyway.
    package init(environment: [String: String], caFile: String?) {
        let before = AuthorityVariables.restored(environment)
        let own = caFile.flatMap(BoundedFile.certificates) ?? []
        var seen = Set(SystemBundle.certificates() + own)
        var variables: [String] = []
        var found: [[UInt8]] = []
        for name in Self.names {
            guard let path = before.nonempty(name), let named = BoundedFile.certificates(path) else { continue }
            let unknown = named.filter { !seen.contains($0) }
            // The same file in a second variable is worth naming, but its certificates are needed once.
            guard !unknown.isEmpty || named.contains(where: { found.contains($0) }) else { continue }
            variables.append(name)
            found += unknown.filter { seen.insert($0).inserted }
        }
        self.variables = variables
        certificates = found
        known = own
    }

    /// A file for `tls.caFile`: its certificates, and those of the shell.
    package var text: String { (known + certificates).map(PEM.text).joined() }

    /// `A, B and C`.
    package var names: String { variables.enumeration }
}
