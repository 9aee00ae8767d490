import LayoverCore
import LayoverEngine
import LayoverTLS

/// Whether the client of one intercepted connection accepts Layover's certificate. Only the first report counts. Confined to its loop.
final class CertificateVerdict {
    private let loop: ProxyLoop
    private let pair: RejectionMemory.Pair
    private var isKnown = false

    /// - Parameter host: Of CONNECT.
    init(of host: String, client: String, loop: ProxyLoop) {
        (self.pair, self.loop) = (RejectionMemory.Pair(client: client, host: host), loop)
    }

    /// The client took the certificate and sent a request, or knew it from before.
    func accepted(isResumed: Bool = false) {
        guard !isKnown else { return }
        isKnown = true
        if !isResumed { loop.interceptions?.accepted(pair) }
    }

    /// The connection ended before its first request.
    ///
    /// - Parameter error: The error of the handshake; nil: the handshake was complete.
    func rejected(_ error: TLSError?) {
        guard !isKnown, let rejection = error == nil ? .possible : error?.rejection else { return }
        isKnown = true
        loop.interceptions?.rejected(
            pair, rejection, reason: error?.description ?? "it closed the connection without a request",
            isRelayed: loop.planner.relaysRejected(pair.host), now: loop.engine.clock.now())
    }
}
