/// An alert by which a peer ended TLS (RFC 8446 section 6).
package struct TLSAlert: Sendable, Hashable {
    package var number: Int
    /// Whether the peer had asked for a certificate, and got none.
    package var isCertificateWanted: Bool

    package init(_ number: Int, isCertificateWanted: Bool = false) {
        self.number = number
        self.isCertificateWanted = isCertificateWanted
    }

    /// Whether the peer would refuse the same handshake again: waiting does not help.
    package var isLasting: Bool {
        switch number {
        // The general alert. Servers of TLS 1.2 send it when a certificate that they require is missing.
        case Self.handshakeFailure: isCertificateWanted
        case 42, 48, 49, 70, 112, Self.certificateRequired, 120: true
        default: false
        }
    }

    /// Whether a certificate of ours would have helped.
    package var isAboutOurCertificate: Bool {
        number == Self.certificateRequired || isCertificateWanted && [40, 42, 48, 49].contains(number)
    }

    private static let handshakeFailure = 40
    private static let certificateRequired = 116

    /// The alert's name in RFC 8446; nil for an alert that is not listed here.
    package var name: String? {
        switch number {
        case 40: "handshake_failure"
        case 42: "bad_certificate"
        case 48: "unknown_ca"
        case 49: "access_denied"
        case 70: "protocol_version"
        case 112: "unrecognized_name"
        case 116: "certificate_required"
        case 120: "no_application_protocol"
        default: nil
        }
    }
}
