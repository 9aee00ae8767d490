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
