import Foundation
import LayoverTestSupport

/// One run of `Tests/Fixtures/tls_origin.py`: an origin that does one thing to each of its TLS connections. It ends with its last user.
final class ScriptedTLSOrigin: Sendable {
    enum What: String {
        /// A body without a length, and then the end as TLS has it, or only that of the connection.
        case endsWell, isCutOff
        case isCutOffBehindALength
        /// The body says whether the session was resumed.
        case tellsTheHandshake
        /// The body has the server name and the protocol that were asked for.
        case tellsTheNames
        /// The response is the request's body, as it comes.
        case echoes
        /// The origin refuses clients that have no certificate.
        case wantsACertificate
        /// The origin speaks HTTP/2, answers the request with 200 or with the head of one that goes on, and never closes the connection.
        case http2, http2Endless
    }

    let port: Int
    private let process: RunningProcess

    /// - Parameter version: `-tls1_2` or `-tls1_3`; nil: either.
    init(_ certificates: TestCertificates, _ what: What, version: String? = nil) async throws {
        let folder = try TemporaryFolder()
        let process = try Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("tls_origin.py"), what.rawValue, certificates.serverFile, certificates.serverKeyFile,
                version ?? "any",
            ]
        ).start(in: folder)
        port = try await FolderWatch(folder.url).first("the origin listens") {
            if process.hasEnded { throw ProcessError("The origin ended: \(process.errors)") }
            return process.output.split(separator: "\n").first.flatMap { Int($0) }
        }
        self.process = process
        TestServers.endWithTest { withExtendedLifetime(process) {} }
    }
}
