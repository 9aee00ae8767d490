import Foundation
import LayoverConfiguration
import LayoverProxy
import LayoverTLS
import Logging
import NIOCore

/// The certificate by which clients speak TLS to the proxy port (`proxy.tls`), read from its files at the start and at each reload.
struct ListenerIdentity: Sendable {
    let certificate: String
    let key: String

    /// Nil: no certificate is configured, and clients speak without TLS.
    init?(_ settings: Settings) {
        guard let certificate = settings.proxy.tls.certificate, let key = settings.proxy.tls.key else { return nil }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Serves new connections by what the files say now.
    ///
    /// - Throws: `CertificateError`; the loops go on with what they have.
    func use(on loops: [ProxyLoop], logger: Logger) async throws {
        let identity = try TLSServerContext(certificate: certificate, key: key, offersHTTP2: false)
        if identity.notAfter < Int(Date().timeIntervalSince1970) {
            logger.warning("the certificate of the proxy port has expired", metadata: ["file": "\(certificate)"])
        }
        for loop in loops { try await loop.use(identity).get() }
    }
}
