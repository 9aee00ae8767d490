/// One failed attempt: how far it got, what went wrong, and what that proves.
package struct Failure: Sendable, Hashable {
    package var phase: FailurePhase
    package var kind: FailureKind
    package var evidence: Evidence
    /// A sentence for people. Never holds field values, bodies or queries.
    package var message: String
    /// libcurl's result code (libcurl-errors(3)), when libcurl was the witness.
    package var curlCode: Int32?
    /// errno of the connect that failed. Other phases do not report one.
    package var osError: Int32?
    /// Bytes of the request, head and body, that were handed to the kernel.
    package var bytesSent: Int64
    /// Whether the attempt ran on a connection that an earlier request had used.
    package var reusedConnection: Bool
    package var localAddress: String?
    package var remoteAddress: String?
    /// Whether a resolver answered that the name does not exist (NXDOMAIN, RFC 8020). While the network is
    /// there that is final; without it, it may come from a name server on a network without a way out.
    package var isNameUnknown = false
    /// Whether the peer refused TLS for a reason that does not change by waiting (`TLSAlert.isLasting`). No condition of `retryOn`
    /// covers it.
    package var isLastingRefusal = false
    /// The wait that a parent proxy asked for when it could not connect to the origin (`Retry-After` of its response to CONNECT).
    package var retryAfter: Duration?

    package init(
        phase: FailurePhase, kind: FailureKind, evidence: Evidence, message: String,
        curlCode: Int32? = nil, osError: Int32? = nil, bytesSent: Int64 = 0,
        reusedConnection: Bool = false, localAddress: String? = nil, remoteAddress: String? = nil,
        isNameUnknown: Bool = false
    ) {
        self.phase = phase
        self.kind = kind
        self.evidence = evidence
        self.message = message
        self.curlCode = curlCode
        self.osError = osError
        self.bytesSent = bytesSent
        self.reusedConnection = reusedConnection
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
        self.isNameUnknown = isNameUnknown
    }

    /// The failure of an attempt whose response is not delivered, because its status is retried.
    ///
    /// - Parameter isMade: Whether a rehearsal made it.
    package static func answered(_ status: Int, isMade: Bool = false) -> Failure {
        Failure(
            phase: .awaitingResponse, kind: .httpResponseStatus, evidence: .answered,
            message: isMade
                ? "A rehearsal answered with status \(status). Nothing was sent." : "The origin answered with status \(status).")
    }

    /// Whether this failure says that the way to its origin is blocked.
    ///
    /// Broken responses and resets after sending never do: the origin was there. A refusal of our own
    /// (a prohibited address, a loop) says nothing about the origin at all.
    package var shutsGate: Bool {
        evidence == .neverSent && phase.isBeforeSending && RetryCondition.connectivity.matches(self)
    }

    /// Whether the proxy itself was in the way: it says nothing about the request or its origin.
    package var isOurOwn: Bool {
        switch kind {
        case .proxyInternalError, .proxyInternalResponse, .proxyConfigurationError, .connectionLimitReached: true
        default: false
        }
    }

    /// Whether a kept-alive connection turned out to be dead: the usual race between its server's idle
    /// timer and our next request (RFC 9112 section 9.5).
    package var isStaleConnection: Bool {
        reusedConnection && kind == .connectionTerminated && evidence == .maybeApplied
    }
}
