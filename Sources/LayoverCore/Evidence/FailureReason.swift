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

    /// The limit is on the head as a whole: an origin that sends a byte of it each second is late, too. So it is no read timeout, which
    /// stands for silence (RFC 9209 sections 2.3.10 and 2.3.26).
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
}
