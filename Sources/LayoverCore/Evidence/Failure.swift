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
    /// Whether a parent proxy refused CONNECT because a proxy behind it got its own request back.
    package var isLoopOfParentProxies = false
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

    /// Whether it says that the parent proxy could be reached.
    var provesParentProxy: Bool { kind != .parentProxyUnreachable && !isOurOwn && (kind == .parentProxyDenied || phase >= .connecting) }
}

/// The proof that an attempt gives about the request, whatever else went wrong.
package enum Evidence: String, CaseIterable, Sendable {
    /// Nothing of the request left this machine; sending it now is its first sending.
    case neverSent
    /// At least one byte was handed to the kernel and no final response head came back.
    case maybeApplied
    /// A final response head arrived.
    case answered
}

/// The furthest point an attempt reached before it failed.
package enum FailurePhase: String, Comparable, CaseIterable, Sendable {
    case resolving, connecting, securing, sending, awaitingResponse, receiving

    /// Whether the connection did not yet stand, so that nothing of the request can have left.
    ///
    /// Only failures in these phases say that the way to the origin is blocked, and only they shut its gate.
    package var isBeforeSending: Bool { self < .sending }

    private var order: Int {
        switch self {
        case .resolving: 0
        case .connecting: 1
        case .securing: 2
        case .sending: 3
        case .awaitingResponse: 4
        case .receiving: 5
        }
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.order < rhs.order }
}

/// The kind of a failure and the sentence about it. How far the attempt got, and what that proves, its client adds.
///
/// Three clients speak HTTP/1.1 to origins: the direct path and upgrades in `LayoverOrigin`, and the transfers of libcurl in
/// `LayoverUpstream`. What more than one of them meets is here once, so that all of them report it alike (decision 94).
///
/// - SeeAlso: RFC 9209 section 2.3.
package struct FailureReason: Sendable, Hashable {
    package let kind: FailureKind
    /// A complete sentence, safe to log and to show.
    package let message: String

    package init(_ kind: FailureKind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    // MARK: Before the request is sent

    package static let invalidURL = FailureReason(.httpRequestError, "The request URL is not valid.")
    package static let nameNotResolved = FailureReason(.dnsError, "The name of the origin could not be resolved.")
    package static let closedOnceOpen = FailureReason(.connectionTerminated, "The connection was closed as soon as it was open.")
    package static let closedBeforeSending = FailureReason(.connectionTerminated, "The connection was closed before anything was sent.")
    package static let handshakeTimedOut = FailureReason(.connectionTimeout, "The TLS handshake timed out.")
    package static let startNotRecorded = FailureReason(
        .proxyInternalError, "The store could not record the attempt, so nothing was sent.")

    /// - Parameters:
    ///   - alert: The alert with its number.
    ///   - server: What the sentence calls the server.
    ///   - needsCertificate: Whether a certificate of ours would have helped (`TLSAlert.isAboutOurCertificate`).
    package static func alertReceived(_ alert: String, from server: String = "origin", needsCertificate: Bool) -> FailureReason {
        let hint = needsCertificate ? " It requires a client certificate, and Layover has none." : ""
        return FailureReason(.tlsAlertReceived, "The \(server) ended the TLS handshake (\(alert)).\(hint)")
    }

    // MARK: By the proxy or its client

    package static let abortedByProxy = FailureReason(.proxyInternalError, "The proxy aborted the attempt.")
    package static let bodyBrokenOff = FailureReason(.httpRequestError, "The client disconnected before its body was complete.")

    // MARK: The connection

    /// - Parameter isSent: Whether all of the request was sent, so that only the response is missing.
    package static func nothingAcknowledged(isSent: Bool) -> FailureReason {
        FailureReason(isSent ? .connectionReadTimeout : .connectionWriteTimeout, "The origin acknowledged nothing for too long.")
    }

    /// - Parameter isAnswered: Whether the final response head came.
    package static func localAddressGone(isAnswered: Bool) -> FailureReason {
        FailureReason(
            isAnswered ? .httpResponseIncomplete : .connectionTerminated,
            "The network changed: the address of this machine that the connection used is gone.")
    }

    /// The connection ended after the request was sent.
    ///
    /// - Parameter hasBegun: Whether a byte of a response came, an interim one included. Then the response is incomplete (RFC 9209 section
    ///   2.3.18). Without one the origin may have closed a kept connection before it read the request (`Failure.isStaleConnection`).
    package static func closed(hasBegun: Bool) -> FailureReason { hasBegun ? responseCut : closedBeforeResponse }

    package static let closedBeforeResponse = FailureReason(.connectionTerminated, "The connection was closed before a response arrived.")
    package static let responseCut = FailureReason(.httpResponseIncomplete, "The connection was closed before the response was complete.")

    /// The response is complete, and the request is not.
    package static let requestCut = FailureReason(
        .connectionTerminated, "The origin answered, but closed the connection before it had received the whole request.")
    package static let requestStalled = FailureReason(.connectionWriteTimeout, "The origin answered, but stopped reading the request.")

    // MARK: The response

    /// The limit is on the head as a whole: an origin that sends a byte of it each second is late, too. So the error is no read timeout:
    /// that one means silence (RFC 9209 sections 2.3.10 and 2.3.26).
    package static let noResponseInTime = FailureReason(
        .httpResponseTimeout, "No final response head arrived within timeouts.firstByte.")
    package static let bodyStalled = FailureReason(
        .connectionReadTimeout, "Nothing more of the response arrived within timeouts.idle.")
    /// Also where libcurl ends such a head, by limits of its own.
    package static let headTooLarge = FailureReason(
        .httpResponseHeaderSectionSize, "The head of the response is too large. See limits.headerBytes.")
    /// The origin agreed to another protocol than it was asked for, or to none (RFC 9110 section 7.8).
    package static let otherProtocol = FailureReason(
        .httpUpgradeFailed, "The origin switched to another protocol than the one that the request asked for.")

    /// Follows a failure of an origin that ends the TLS handshake because it has no protocol in common with HTTP/1.1, or answers in HTTP/2
    /// over TLS. Without TLS the key has no effect.
    package static let hintAtHTTP2 = "If the origin speaks HTTP/2 only, set http2 on its route."
}

extension Failure {
    package init(
        _ reason: FailureReason, phase: FailurePhase, evidence: Evidence, osError: Int32? = nil, bytesSent: Int64 = 0,
        reusedConnection: Bool = false, localAddress: String? = nil, remoteAddress: String? = nil
    ) {
        self.init(
            phase: phase, kind: reason.kind, evidence: evidence, message: reason.message, osError: osError, bytesSent: bytesSent,
            reusedConnection: reusedConnection, localAddress: localAddress, remoteAddress: remoteAddress)
    }

    /// The failure of an attempt that was never made, because it was cancelled before or the worker is gone.
    package static let abortedByProxy = Failure(.abortedByProxy, phase: .resolving, evidence: .neverSent)
    /// The failure of an attempt whose process is gone.
    static let cutOff = Failure(
        phase: .sending, kind: .proxyInternalError, evidence: .maybeApplied, message: "The proxy ended during the attempt.")
    /// The proxy ends before it could send.
    package static let stopping = Failure(
        phase: .resolving, kind: .proxyInternalError, evidence: .neverSent, message: "The proxy is stopping.")
    package static let webhookGone = Failure(
        phase: .resolving, kind: .proxyConfigurationError, evidence: .neverSent,
        message: "The webhook of this notification is not configured any more (notify.webhook).")
}

extension Failure {
    /// This failure as a failure of the connection to the parent proxy.
    ///
    /// A refusal of Layover's own, an untrusted certificate and a lasting refusal keep their kind: they are no outage.
    package var ofParentProxy: Failure {
        var failure = self
        failure.isNameUnknown = false
        switch kind {
        case .tlsCertificateError: failure.message = "The certificate of the parent proxy is not trusted: \(message)"
        case .tlsAlertReceived where isLastingRefusal: failure.message = "The parent proxy cannot be used: \(message)"
        case .proxyLoopDetected: failure.message = "The parent proxy is this proxy itself (a loop)."
        case .destinationIPProhibited: failure.message = "The proxy does not connect to the address of the parent proxy."
        default:
            guard phase.isBeforeSending, evidence == .neverSent, !isOurOwn, kind != .httpRequestError else { return self }
            failure.kind = .parentProxyUnreachable
            failure.message = "The parent proxy cannot be reached: \(message)"
        }
        return failure
    }

    /// The same failure, where the parent proxy answered CONNECT with a final status that is no success.
    ///
    /// - Parameter retryAfter: The wait that the response asks for. Nil: it asks for none, or it is not known.
    package func refusedByParentProxy(_ status: Int, retryAfter: Duration? = nil) -> Failure {
        switch status {
        // RFC 9110 section 15: such a status is invalid.
        case ..<100, 600...: return misansweredByParentProxy("The parent proxy answered CONNECT with the invalid status \(status).")
        case 407: return .parentProxyCredentialsRefused(remoteAddress: remoteAddress)
        // The parent proxy tried, or would at another time.
        case 408, 429, 500...599:
            var failure = changed(to: .destinationUnavailable, "The parent proxy could not connect to the origin (status \(status)).")
            failure.retryAfter = retryAfter
            return failure
        default: return changed(to: .parentProxyDenied, "The parent proxy refused the connection to the origin (status \(status)).")
        }
    }

    /// The same failure with another kind and another sentence.
    private func changed(to kind: FailureKind, _ message: String) -> Failure {
        var failure = self
        (failure.kind, failure.message) = (kind, message)
        return failure
    }

    /// The same failure, where the parent proxy refused CONNECT because a proxy behind it got its own request back.
    package var loopOfParentProxies: Failure {
        var failure = changed(
            to: .proxyLoopDetected,
            "A proxy on the way to the origin got its own request back (a loop). See upstreamProxy in the configuration.")
        failure.isLoopOfParentProxies = true
        return failure
    }

    /// The same failure, where the answer of the parent proxy to CONNECT is no valid response: it is no such proxy.
    package func misansweredByParentProxy(_ message: String) -> Failure {
        changed(to: .parentProxyMisconfigured, message)
    }

    package static let parentProxyIsNoHTTP = "The parent proxy answered CONNECT with bytes that are not HTTP."
    package static let parentProxyResponseTooLarge = "The response of the parent proxy to CONNECT is too large."

    /// The same failure, where the parent proxy never answered CONNECT.
    package var timedOutAtParentProxy: Failure {
        changed(to: .connectionTimeout, "The parent proxy did not open the connection to the origin in time.")
    }

    /// The same failure, where the parent proxy closed the connection before its response to CONNECT was complete.
    package var closedByParentProxy: Failure {
        changed(to: .connectionTerminated, "The parent proxy closed the connection before it was open to the origin.")
    }

    /// Nothing of the request has reached its origin.
    package static func parentProxyCredentialsRefused(remoteAddress: String?) -> Failure {
        Failure(
            phase: .connecting, kind: .parentProxyMisconfigured, evidence: .neverSent,
            message: "The parent proxy wants credentials, or others (status 407). See upstreamProxy in the configuration.",
            remoteAddress: remoteAddress)
    }
}
