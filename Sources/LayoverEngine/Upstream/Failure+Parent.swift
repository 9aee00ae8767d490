package import LayoverCore

extension Failure {
    /// The same failure, where it was the parent proxy that could not be connected to.
    ///
    /// A refusal of our own stays what it is, and so does a certificate that does not convince: that is no outage.
    package var ofParent: Failure {
        var failure = self
        failure.isNameUnknown = false
        switch kind {
        case .tlsCertificateError: failure.message = "The certificate of the parent proxy is not trusted: \(message)"
        case .proxyLoopDetected: failure.message = "The parent proxy is this proxy itself (a loop)."
        case .destinationIPProhibited: failure.message = "The proxy does not connect to the address of the parent proxy."
        default:
            guard phase.isBeforeSending, evidence == .neverSent, !isOurOwn, kind != .httpRequestError else { return self }
            failure.kind = .parentProxyUnreachable
            failure.message = "The parent proxy cannot be reached: \(message)"
        }
        return failure
    }

    /// Nothing of the request has reached its origin.
    package static func parentCredentialsRefused(remoteAddress: String?) -> Failure {
        Failure(
            phase: .connecting, kind: .parentProxyMisconfigured, evidence: .neverSent,
            message: "The parent proxy wants credentials, or others (status 407). See upstreamProxy.url.", remoteAddress: remoteAddress)
    }
}
