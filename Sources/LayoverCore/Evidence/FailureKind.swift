/// What went wrong, in the words of RFC 9209 section 2.3 (Proxy Error Types).
package enum FailureKind: String, CaseIterable, Sendable {
    case dnsTimeout = "dns_timeout"
    case dnsError = "dns_error"
    case destinationNotFound = "destination_not_found"
    case destinationUnavailable = "destination_unavailable"
    case destinationIPProhibited = "destination_ip_prohibited"
    case destinationIPUnroutable = "destination_ip_unroutable"
    case connectionRefused = "connection_refused"
    case connectionTerminated = "connection_terminated"
    case connectionTimeout = "connection_timeout"
    case connectionReadTimeout = "connection_read_timeout"
    case connectionWriteTimeout = "connection_write_timeout"
    case connectionLimitReached = "connection_limit_reached"
    case tlsProtocolError = "tls_protocol_error"
    case tlsCertificateError = "tls_certificate_error"
    case tlsAlertReceived = "tls_alert_received"
    case httpRequestError = "http_request_error"
    case httpRequestDenied = "http_request_denied"
    case httpResponseIncomplete = "http_response_incomplete"
    case httpResponseHeaderSectionSize = "http_response_header_section_size"
    case httpResponseHeaderSize = "http_response_header_size"
    case httpResponseBodySize = "http_response_body_size"
    case httpResponseTrailerSectionSize = "http_response_trailer_section_size"
    case httpResponseTrailerSize = "http_response_trailer_size"
    case httpResponseTransferCoding = "http_response_transfer_coding"
    case httpResponseContentCoding = "http_response_content_coding"
    case httpResponseTimeout = "http_response_timeout"
    case httpUpgradeFailed = "http_upgrade_failed"
    case httpProtocolError = "http_protocol_error"
    case proxyInternalResponse = "proxy_internal_response"
    case proxyInternalError = "proxy_internal_error"
    case proxyConfigurationError = "proxy_configuration_error"
    case proxyLoopDetected = "proxy_loop_detected"
    /// Ours, not the RFC's: a complete response whose status its policy retries.
    case httpResponseStatus = "http_response_status"

    /// Ours: the response to a repetition does not show whether an earlier attempt was applied.
    case outcomeUnknown = "outcome_unknown"

    /// Ours: the parent proxy could not be connected to, TLS included. Nothing is known of the origin.
    case parentProxyUnreachable = "parent_proxy_unreachable"
    /// Ours: the parent proxy does not let the request through.
    case parentProxyDenied = "parent_proxy_denied"
    /// Ours: the parent proxy wants other credentials, or is none.
    case parentProxyMisconfigured = "parent_proxy_misconfigured"

    /// The registered type for the `error` parameter of Proxy-Status.
    package var errorType: String {
        switch self {
        // "The intermediary considers the next hop to be unavailable."
        case .httpResponseStatus, .parentProxyUnreachable: "destination_unavailable"
        // The response to the attempt that may have been applied never came.
        case .outcomeUnknown: "http_response_incomplete"
        case .parentProxyDenied: "http_request_denied"
        case .parentProxyMisconfigured: "proxy_configuration_error"
        default: rawValue
        }
    }

    /// The status that RFC 9209 recommends for a response of our own.
    package var recommendedStatus: Int {
        switch self {
        case .dnsTimeout, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout,
            .httpResponseTimeout:
            504
        case .destinationUnavailable, .connectionLimitReached, .httpResponseStatus: 503
        case .httpRequestError: 400
        case .httpRequestDenied: 403
        case .destinationNotFound, .proxyInternalError, .proxyConfigurationError: 500
        default: 502
        }
    }
}

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
