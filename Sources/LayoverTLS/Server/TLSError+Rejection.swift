package import LayoverCore

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
