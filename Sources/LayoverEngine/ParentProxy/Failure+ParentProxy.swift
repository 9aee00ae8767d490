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

    /// The same failure, where the parent proxy answered CONNECT with a final status that is no success.
    ///
    /// - Parameter retryAfter: The wait that the response asks for. Nil: it asks for none, or it is not known.
    package func refusedByParentProxy(_ status: Int, retryAfter: Duration? = nil) -> Failure {
        var failure = self
        switch status {
        // RFC 9110 section 15: such a status is invalid.
        case ..<100, 600...: return misansweredByParentProxy("The parent proxy answered CONNECT with the invalid status \(status).")
        case 407: return .parentProxyCredentialsRefused(remoteAddress: remoteAddress)
        // The parent proxy tried, or would at another time.
        case 408, 429, 500...599:
            failure.kind = .destinationUnavailable
            failure.retryAfter = retryAfter
            failure.message = "The parent proxy could not connect to the origin (status \(status))."
        default:
            failure.kind = .parentProxyDenied
            failure.message = "The parent proxy refused the connection to the origin (status \(status))."
        }
        return failure
    }

    /// The same failure, where the parent proxy refused CONNECT because a proxy behind it got its own request back.
    package var loopOfParentProxies: Failure {
        var failure = self
        failure.kind = .proxyLoopDetected
        failure.message = "A proxy on the way to the origin got its own request back (a loop). See upstreamProxy in the configuration."
        return failure
    }

    /// The same failure, where the answer of the parent proxy to CONNECT is no valid response: it is no such proxy.
    package func misansweredByParentProxy(_ message: String) -> Failure {
        var failure = self
        failure.kind = .parentProxyMisconfigured
        failure.message = message
        return failure
    }

    package static let parentProxyIsNoHTTP = "The parent proxy answered CONNECT with bytes that are not HTTP."
    package static let parentProxyAnswerTooLarge = "The response of the parent proxy to CONNECT is too large."

    /// The same failure, where the parent proxy never answered CONNECT.
    package var timedOutAtParentProxy: Failure {
        var failure = self
        failure.kind = .connectionTimeout
        failure.message = "The parent proxy did not open the connection to the origin in time."
        return failure
    }

    /// The same failure, where the parent proxy closed the connection before its response to CONNECT was complete.
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
            message: "The parent proxy wants credentials, or others (status 407). See upstreamProxy in the configuration.",
            remoteAddress: remoteAddress)
    }
}
