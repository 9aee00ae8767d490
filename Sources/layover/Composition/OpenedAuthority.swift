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
    private let known = Mutex<Interceptions?>(nil)

    /// The state of interceptions. Nil: nothing is intercepted.
    var interceptions: Interceptions? { known.withLock { $0 } }

    /// The fingerprint of the authority that signs; nil: no authority signs.
    var fingerprint: String? { certificates.withLock { $0?.authority.fingerprint } }

    /// Never accepts from a server what the authority in the folder signed, whoever made it and when. Before the first connection.
    func distrust(for settings: Settings) { OwnAuthorities.distrust(folder: Self.folder(of: settings)) }

    private static func folder(of settings: Settings) -> String { settings.authorityFolder.isEmpty ? "." : settings.authorityFolder }

    /// Gives the loops certificates if a route intercepts. Without them nothing is intercepted, and an error says why.
    func prepare(for settings: Settings, loops: [ProxyLoop], logger: Logger) async {
        distrust(for: settings)
        guard settings.routes.hasInterceptions else { return }
        let folder = Self.folder(of: settings)
        if let certificates = certificates.withLock({ $0 }) { return renew(certificates, in: folder, logger: logger) }
        do throws(CertificateError) {
            let authority = try CertificateAuthority.loadOrMake(folder: folder, now: Int(Date().timeIntervalSince1970))
            OwnAuthorities.distrust(authority)
            let made = try LeafCertificates(authority: authority, threads: .singleton, supportsHTTP2: true)
            certificates.withLock { $0 = made }
            let interceptions = Interceptions(logger: logger)
            known.withLock { $0 = interceptions }
            for loop in loops { try? await loop.use(made, interceptions).get() }
            logger.notice(
                "interception is on",
                metadata: ["authority": "\(folder)/\(CertificateAuthority.certificateFileName)", "fingerprint": "\(authority.fingerprint)"])
        } catch {
            logger.error("cannot use the certificate authority; nothing is intercepted", metadata: ["error": "\(error)"])
        }
    }

    /// Signs by the authority that is in the folder now, if it is another one.
    private func renew(_ certificates: LeafCertificates, in folder: String, logger: Logger) {
        do throws(CertificateError) {
            let authority = try CertificateAuthority.loadOrMake(folder: folder, now: Int(Date().timeIntervalSince1970))
            guard authority.fingerprint != certificates.authority.fingerprint else { return }
            OwnAuthorities.distrust(authority)
            certificates.use(authority)
            interceptions?.authorityChanged()
            logger.notice("interception has another authority", metadata: ["fingerprint": "\(authority.fingerprint)"])
        } catch {
            logger.error("cannot read the certificate authority; the one before stays in use", metadata: ["error": "\(error)"])
        }
    }
}
