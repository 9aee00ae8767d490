package import LayoverCore

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
