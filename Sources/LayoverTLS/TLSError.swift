import COpenSSL
package import LayoverCore

/// Why a TLS connection came to nothing.
package struct TLSError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The peer's certificate is not accepted. With the code of X509_STORE_CTX_get_error(3).
        case certificate(Int)
        /// The peer sent an alert (RFC 8446 section 6).
        case alert(Int)
        /// The peer does not speak TLS as it should, or no version and cipher suit both.
        case violation
        /// The peer closed the connection in the handshake.
        /// - Parameter isCertificateSent: Whether our certificate was on its way before.
        case closed(isCertificateSent: Bool)
        /// The handshake took too long.
        case timeout
        /// OpenSSL cannot do what it is asked for: no memory, or a file that it cannot read.
        case unusable
    }

    package var kind: Kind
    /// A few words of OpenSSL's, without secrets: `certificate has expired`.
    package var reason: String
    /// The alert that we sent. Nil: we sent none.
    package var alertSent: Int?
    /// Whether the peer had asked for a certificate of ours, and got none.
    package var isCertificateWanted = false
    /// True if a peer that refuses our part of the handshake has acted on no byte that was sent. Either the handshake was not complete, or
    /// three things are true: the version is TLS 1.3, the server asked for a certificate, and no byte of the application has come. Such a
    /// server judges our certificate after we may send.
    package var isBeforeData = false

    package init(_ kind: Kind, _ reason: String, alertSent: Int? = nil) {
        self.kind = kind
        self.reason = reason
        self.alertSent = alertSent
    }

    package var description: String {
        switch kind {
        case .certificate: "certificate: \(reason)"
        case .alert(let number): "alert \(number): \(reason)"
        case .violation, .closed, .timeout, .unusable: reason
        }
    }

    /// The oldest error in OpenSSL's queue of this thread (ERR_peek_error(3)). The queue is empty afterwards.
    static func noted(_ kind: Kind) -> TLSError {
        let code = ERR_peek_error()
        ERR_clear_error()
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "the connection broke"
        let alert = Int(layover_tls_alert(code))
        return TLSError(alert >= 0 ? .alert(alert) : kind, reason)
    }
}

extension TLSError {
    package static let closedInHandshake = TLSError(.closed(isCertificateSent: false), "the connection was closed")

    static func closed(_ session: TLSSession) -> TLSError {
        TLSError(.closed(isCertificateSent: session.isCertificateSent), closedInHandshake.reason)
    }
}

extension TLSError {
    /// What kind of failure it is where it ended the handshake with a server, and a sentence about it.
    ///
    /// - Parameter server: What the sentence calls the server.
    package func handshakeFailure(with server: String = "origin") -> (kind: FailureKind, message: String) {
        switch kind {
        case .certificate: (.tlsCertificateError, "The \(server)'s certificate is not accepted (\(reason)).")
        case .alert: Self.pair(.alertReceived(description, from: server, needsCertificate: alert?.isAboutOurCertificate == true))
        case .violation, .closed: (.tlsProtocolError, "The TLS handshake failed (\(reason)).")
        case .timeout: Self.pair(.handshakeTimedOut)
        case .unusable: (.proxyInternalError, "TLS cannot be used (\(reason)).")
        }
    }

    private static func pair(_ reason: FailureReason) -> (kind: FailureKind, message: String) { (reason.kind, reason.message) }

    private var alert: TLSAlert? {
        guard case .alert(let number) = kind else { return nil }
        return TLSAlert(number, isCertificateWanted: isCertificateWanted)
    }

    /// Whether the server refused the connection for a reason that does not change by waiting, and acted on nothing that was sent.
    package var isLastingRefusal: Bool { isBeforeData && alert?.isLasting == true }

    /// Whether the server speaks none of the protocols that it was offered (RFC 7301 section 3.2).
    package var isNoCommonProtocol: Bool { kind == .alert(120) }
}

extension TLSError {
    /// Whether the client rejects our certificate by this error. Nil: the error says nothing about the certificate.
    package var rejection: TLSRejection? {
        switch kind {
        case .alert(let number): TLSRejection(alert: number)
        case .closed(let isCertificateSent): isCertificateSent ? .possible : nil
        case .certificate, .violation, .timeout, .unusable: nil
        }
    }
}
