import LayoverCore
import LayoverEngine
import LayoverTLS

/// What the client of one intercepted connection thinks of our certificate. The first that is known counts. Confined to its loop.
final class CertificateVerdict {
    private let loop: ProxyLoop
    private let host: String
    private let client: String
    private var isKnown = false

    /// - Parameter host: Of CONNECT.
    init(of host: String, client: String, loop: ProxyLoop) {
        (self.host, self.client, self.loop) = (host, client, loop)
    }

    /// The client took the certificate and sent a request, or knew it from before.
    func accepted(isResumed: Bool = false) {
        guard !isKnown else { return }
        isKnown = true
        if !isResumed { loop.interceptions?.accepted(host) }
    }

    /// The connection ended before its first request.
    ///
    /// - Parameter error: Of the handshake; nil: it was complete.
    func rejected(_ error: TLSError?) {
        guard !isKnown, let rejection = error == nil ? .possible : error?.rejection else { return }
        isKnown = true
        loop.interceptions?.rejected(
            host, rejection, reason: error?.description ?? "it closed the connection without a request", by: client,
            isRelayed: loop.rules.routes.relaysRejected(host), now: loop.engine.clock.now())
    }
}
