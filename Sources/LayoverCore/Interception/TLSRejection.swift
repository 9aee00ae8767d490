/// What the end of a client's TLS connection says about our certificate. A network failure says nothing, and is none of these.
package enum TLSRejection: Sendable, Hashable {
    /// The client said so.
    case certain
    /// The client closed behind our certificate, or behind the handshake without a request. Clients do that for other reasons too.
    case possible

    /// - Parameter alert: Of the client (RFC 8446 section 6.2): bad_certificate 42 to certificate_unknown 46, and unknown_ca 48.
    ///   Others are no judgement of a certificate.
    package init?(alert: Int) {
        guard 42...46 ~= alert || alert == 48 else { return nil }
        self = .certain
    }
}
