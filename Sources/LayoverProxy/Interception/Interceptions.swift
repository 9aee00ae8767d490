package import LayoverCore
import LayoverEngine
import LayoverTLS
package import Logging
import Synchronization

/// What all loops know of interceptions: which clients reject our certificate, and how many there were.
///
/// Asked once for each intercepted CONNECT, and told once for each connection inside; never for a request of another kind.
package final class Interceptions: Sendable {
    private struct State {
        var memory = RejectionMemory()
        var connectionCount = 0
        var rejectionCount = 0
        var fallbackCount = 0
    }

    private let state = Mutex(State())
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    // MARK: What loops tell and ask

    /// A client's connection to a host is served by us.
    func began() { state.withLock { $0.connectionCount += 1 } }

    /// A client took the certificate and sent a request.
    func accepted(_ pair: RejectionMemory.Pair) { state.withLock { $0.memory.accepted(pair) } }

    /// A client ended its connection, and that says something about our certificate.
    ///
    /// - Parameter isRelayed: Whether its next connections to the host become tunnels.
    func rejected(_ pair: RejectionMemory.Pair, _ rejection: TLSRejection, reason: String, isRelayed: Bool, now: Timestamp) {
        let isNew = state.withLock { state in
            state.rejectionCount += 1
            return state.memory.rejected(pair, rejection, now: now)
        }
        guard isNew else { return }
        let relayed = "Its connections to the host become tunnels for an hour (interceptFallback)."
        let fix = """
            If it pins certificates, leave the host out or set interceptFallback on its route; otherwise make it trust the authority: \
            layover ca trust, layover env --ca.
            """
        logger.warning(
            "a client rejects the certificate of an intercepted host",
            metadata: ["host": "\(pair.host)", "client": "\(pair.client)", "reason": "\(reason)", "hint": "\(isRelayed ? relayed : fix)"])
    }

    /// Whether a connection of the client to the host is to be a tunnel, as it rejects our certificate.
    func relays(_ pair: RejectionMemory.Pair, now: Timestamp) -> Bool {
        state.withLock { state in
            guard state.memory.isRejected(pair, now: now) else { return false }
            state.fallbackCount += 1
            return true
        }
    }

    // MARK: For the process as a whole

    /// Certificates come from another authority from now on.
    package func authorityChanged() { state.withLock { $0.memory.authorityChanged() } }

    /// For people.
    package struct Report: Sendable {
        /// Connections of clients whose TLS ended here, since the start.
        package var connectionCount: Int
        /// Those that may have been ended because of our certificate.
        package var rejectionCount: Int
        /// Connections that became tunnels because of earlier ones.
        package var fallbackCount: Int
        /// Hosts that some client rejects our certificate for, as far as that is remembered.
        package var rejectingHosts: [String]
    }

    package func report(now: Timestamp) -> Report {
        state.withLock { state in
            Report(
                connectionCount: state.connectionCount, rejectionCount: state.rejectionCount, fallbackCount: state.fallbackCount,
                rejectingHosts: state.memory.rejectedHosts(now: now))
        }
    }
}

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
            isRelayed: loop.configuration.routes.relaysRejected(pair.host), now: loop.engine.clock.now())
    }
}

/// Facts about a connection inside an intercepted CONNECT before its first request.
struct InterceptedConnection {
    /// Where CONNECT was to go, and all requests go.
    let origin: Origin
    /// The user that CONNECT named; nil: it named no user.
    let user: UserCount?
    /// Whether the client accepted our certificate.
    let verdict: CertificateVerdict
    /// The name that the client asked for in its handshake, where it is not that of CONNECT.
    var serverName: String?
    /// The transcoder of a stream of HTTP/2; nil: this connection is no stream.
    var stream: HTTP2StreamTranscoder?
}
