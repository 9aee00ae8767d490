import Foundation
import LayoverConfiguration
import LayoverCore
import LayoverProxy
import LayoverTLS
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The authority of interception, and the certificates of intercepted hosts, made when the configuration first intercepts one.
final class OpenedAuthority: Sendable {
    private let certificates = Mutex<LeafCertificates?>(nil)

    /// Never accepts from a server what an authority of an earlier run signed. Before the first connection.
    func distrust(for settings: Settings, logger: Logger) {
        let folder = settings.authorityFolder
        do throws(CertificateError) {
            let now = Int(Date().timeIntervalSince1970)
            guard let authority = try CertificateAuthority.load(folder: folder.isEmpty ? "." : folder, now: now) else { return }
            OwnAuthorities.distrust(authority)
        } catch {
            logger.warning("cannot read the certificate authority", metadata: ["error": "\(error)"])
        }
    }

    /// Gives the loops certificates if a route intercepts. Without them nothing is intercepted, and an error says why.
    func prepare(for settings: Settings, loops: [ProxyLoop], logger: Logger) async {
        guard settings.routes.hasInterceptions, certificates.withLock({ $0 == nil }) else { return }
        let folder = settings.authorityFolder
        do throws(CertificateError) {
            let authority = try CertificateAuthority.loadOrMake(
                folder: folder.isEmpty ? "." : folder, now: Int(Date().timeIntervalSince1970))
            OwnAuthorities.distrust(authority)
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
