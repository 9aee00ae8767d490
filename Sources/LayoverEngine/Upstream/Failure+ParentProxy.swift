package import LayoverCore

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

    /// The same failure, where the parent proxy answered CONNECT with a status that is no success.
    package func refusedByParentProxy(_ status: Int) -> Failure {
        var failure = self
        switch status {
        case 407: return .parentProxyCredentialsRefused(remoteAddress: remoteAddress)
        // The parent proxy tried, or would at another time.
        case 408, 429, 500...599:
            failure.kind = .destinationUnavailable
            failure.message = "The parent proxy could not connect to the origin (status \(status))."
        default:
            failure.kind = .parentProxyDenied
            failure.message = "The parent proxy refused the connection to the origin (status \(status))."
        }
        return failure
    }

    /// The same failure, where the parent proxy never answered CONNECT.
    package var timedOutAtParentProxy: Failure {
        var failure = self
        failure.kind = .connectionTimeout
        failure.message = "The parent proxy did not open the connection to the origin in time."
        return failure
    }

    /// The same failure, where the parent proxy closed the connection instead of an answer to CONNECT.
    package var closedByParentProxy: Failure {
        var failure = self
        failure.kind = .connectionTerminated
        failure.message = "The parent proxy closed the connection before it was open to the origin."
        return failure
    }

    /// Nothing of the request has reached its origin.
    package static func parentProxyCredentialsRefused(remoteAddress: String?) -> Failure {
        Failure(
            phase: .connecting, kind: .parentProxyMisconfigured, evidence: .neverSent,
            message: "The parent proxy wants credentials, or others (status 407). See upstreamProxy.url.", remoteAddress: remoteAddress)
    }
}
