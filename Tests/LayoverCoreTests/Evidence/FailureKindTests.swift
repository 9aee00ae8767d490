import Testing

@testable import LayoverCore

struct FailureKindTests {
    /// The table of RFC 9209 section 2.3. `http_request_error` and `http_request_denied` leave the status to
    /// the proxy; `proxy_internal_response` and the response errors recommend 502.
    @Test(arguments: [
        (
            504,
            "dns_timeout connection_timeout connection_read_timeout connection_write_timeout http_response_timeout"
        ),
        (503, "destination_unavailable connection_limit_reached"),
        (500, "destination_not_found proxy_internal_error proxy_configuration_error"),
        (400, "http_request_error"), (403, "http_request_denied"),
        (
            502,
            """
            dns_error destination_ip_prohibited destination_ip_unroutable connection_refused \
            connection_terminated tls_protocol_error tls_certificate_error tls_alert_received \
            http_response_incomplete http_response_header_section_size http_response_header_size \
            http_response_body_size http_response_trailer_section_size http_response_trailer_size \
            http_response_transfer_coding http_response_content_coding http_upgrade_failed \
            http_protocol_error proxy_internal_response proxy_loop_detected outcome_unknown parent_proxy_unreachable \
            parent_proxy_denied parent_proxy_misconfigured
            """
        ),
    ])
    func statusesAreThoseOfTheTable(status: Int, names: String) {
        let kinds = names.split(separator: " ").map { FailureKind(rawValue: String($0)) }
        #expect(!kinds.contains(nil))
        #expect(kinds.compactMap { $0?.recommendedStatus } == kinds.map { _ in status })
        let registered = FailureKind.allCases.filter { $0 != .httpResponseStatus }
        #expect(registered.count { $0.recommendedStatus == status } == kinds.count)
    }

    /// The registry of RFC 9209 has no word for a complete response with a status that nobody wants, nor for parent proxies.
    @Test(arguments: FailureKind.allCases)
    func everyErrorTypeIsRegistered(kind: FailureKind) {
        let registered: [FailureKind: String] = [
            .httpResponseStatus: "destination_unavailable", .parentProxyUnreachable: "destination_unavailable",
            .outcomeUnknown: "http_response_incomplete", .parentProxyDenied: "http_request_denied",
            .parentProxyMisconfigured: "proxy_configuration_error",
        ]
        #expect(kind.errorType == registered[kind] ?? kind.rawValue)
    }
}
