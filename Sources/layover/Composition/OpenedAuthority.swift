import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverProxy
import LayoverTLS
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The certificates of intercepted hosts, made when the configuration first intercepts one.
final class OpenedAuthority: Sendable {
    private let certificates = Mutex<LeafCertificates?>(nil)

    /// Gives the loops certificates if a route intercepts. Without them nothing is intercepted, and an error says why.
    func prepare(for settings: Settings, loops: [ProxyLoop], logger: Logger) async {
        guard settings.routes.hasInterceptions, certificates.withLock({ $0 == nil }) else { return }
        let folder = settings.tls.folder ?? settings.store.folder
        do throws(CertificateError) {
            let authority = try CertificateAuthority.loadOrMake(
                folder: folder.isEmpty ? "." : folder, now: Int(Date().timeIntervalSince1970))
            let made = try LeafCertificates(authority: authority, threads: .singleton, offersHTTP2: false)
            certificates.withLock { $0 = made }
            for loop in loops { try? await loop.use(made).get() }
            logger.notice(
                "interception is on",
                metadata: ["authority": "\(folder)/\(CertificateAuthority.certificateFileName)", "fingerprint": "\(authority.fingerprint)"])
        } catch {
            logger.error("cannot use the certificate authority; nothing is intercepted", metadata: ["error": "\(error)"])
        }
    }
}
