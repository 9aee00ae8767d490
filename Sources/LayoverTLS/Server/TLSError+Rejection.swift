package import LayoverCore

extension TLSError {
    /// Whether the client rejects our certificate by this. Nil: it says nothing about it.
    package var rejection: TLSRejection? {
        switch kind {
        case .alert(let number): TLSRejection(alert: number)
        case .closed(let isCertificateSent): isCertificateSent ? .possible : nil
        case .certificate, .violation, .timeout, .unusable: nil
        }
    }
}
