import LayoverCore

/// The meaning of one result code of libcurl.
struct CurlCode {
    let number: Int32
    let name: StaticString
    let kind: FailureKind
    /// The phase in which the error always happens; nil: the progress of the transfer decides.
    let phase: FailurePhase?
    let reason: String

    init(
        _ number: Int32, _ name: StaticString, _ kind: FailureKind, _ phase: FailurePhase?,
        _ reason: String
    ) {
        self.number = number
        self.name = name
        self.kind = kind
        self.phase = phase
        self.reason = reason
    }

    /// A code that a request over HTTP/1, set up as ours are, does not get; or a fault of our own.
    static func unexpected(
        _ number: Int32, _ name: StaticString, _ reason: String
    ) -> CurlCode {
        CurlCode(number, name, .proxyInternalError, nil, reason)
    }

    /// A code for what other ways to an origin meet as well.
    static func shared(_ number: Int32, _ name: StaticString, _ phase: FailurePhase?, _ reason: FailureReason) -> CurlCode {
        CurlCode(number, name, reason.kind, phase, reason.message)
    }

    static func named(_ number: Int32) -> CurlCode {
        guard number >= 0, number < table.count else {
            return CurlCode(
                number, "unknown", .proxyInternalError, nil, "libcurl reported an unknown error code.")
        }
        return table[Int(number)]
    }
}

// Every result code of libcurl (curl/curl.h, libcurl-errors(3)), in the order of the numbers: its meaning for a request, and the phase in
// which it occurs. The phase is nil where the progress of the transfer decides. The table has numbers in place of libcurl's constants,
// because 100 and 101 are newer than the oldest libcurl that we support.

extension CurlCode {
    static let table: [CurlCode] = [
        .shared(0, "CURLE_OK", nil, .responseCut),
        CurlCode(
            1, "CURLE_UNSUPPORTED_PROTOCOL", .httpProtocolError, nil, "The origin did not answer with HTTP/1."
        ),
        .unexpected(2, "CURLE_FAILED_INIT", "The transfer could not be set up."),
        .shared(3, "CURLE_URL_MALFORMAT", .resolving, .invalidURL),
        .unexpected(4, "CURLE_NOT_BUILT_IN", "This libcurl was built without a needed feature."),
        CurlCode(
            5, "CURLE_COULDNT_RESOLVE_PROXY", .proxyConfigurationError, .resolving,
            "The name of the parent proxy could not be resolved."),
        .shared(6, "CURLE_COULDNT_RESOLVE_HOST", .resolving, .nameNotResolved),
        CurlCode(
            7, "CURLE_COULDNT_CONNECT", .connectionRefused, .connecting, "The connection could not be made."),
        CurlCode(8, "CURLE_WEIRD_SERVER_REPLY", .httpProtocolError, nil, "The response is not valid HTTP."),
        .unexpected(9, "CURLE_REMOTE_ACCESS_DENIED", "Not a code of HTTP (FTP)."),
        .unexpected(10, "CURLE_FTP_ACCEPT_FAILED", "Not a code of HTTP (FTP)."),
        .unexpected(11, "CURLE_FTP_WEIRD_PASS_REPLY", "Not a code of HTTP (FTP)."),
        .unexpected(12, "CURLE_FTP_ACCEPT_TIMEOUT", "Not a code of HTTP (FTP)."),
        .unexpected(13, "CURLE_FTP_WEIRD_PASV_REPLY", "Not a code of HTTP (FTP)."),
        .unexpected(14, "CURLE_FTP_WEIRD_227_FORMAT", "Not a code of HTTP (FTP)."),
        .unexpected(15, "CURLE_FTP_CANT_GET_HOST", "Not a code of HTTP (FTP)."),
        CurlCode(16, "CURLE_HTTP2", .httpProtocolError, nil, "The origin violated the HTTP/2 protocol."),
        .unexpected(17, "CURLE_FTP_COULDNT_SET_TYPE", "Not a code of HTTP (FTP)."),
        .shared(18, "CURLE_PARTIAL_FILE", nil, .responseCut),
        .unexpected(19, "CURLE_FTP_COULDNT_RETR_FILE", "Not a code of HTTP (FTP)."),
        .unexpected(20, "CURLE_OBSOLETE20", "Not used by libcurl."),
        .unexpected(21, "CURLE_QUOTE_ERROR", "Not a code of HTTP (FTP)."),
        .unexpected(22, "CURLE_HTTP_RETURNED_ERROR", "Not asked for: an error status is a response."),
        CurlCode(23, "CURLE_WRITE_ERROR", .httpProtocolError, nil, "The proxy rejected the response."),
        .unexpected(24, "CURLE_OBSOLETE24", "Not used by libcurl."),
        .unexpected(25, "CURLE_UPLOAD_FAILED", "The request body could not be sent."),
        .unexpected(26, "CURLE_READ_ERROR", "The request body could not be read."),
        .unexpected(27, "CURLE_OUT_OF_MEMORY", "There was not enough memory."),
        CurlCode(
            28, "CURLE_OPERATION_TIMEDOUT", .connectionTimeout, nil, "The connection attempt timed out."),
        .unexpected(29, "CURLE_OBSOLETE29", "Not used by libcurl."),
        .unexpected(30, "CURLE_FTP_PORT_FAILED", "Not a code of HTTP (FTP)."),
        .unexpected(31, "CURLE_FTP_COULDNT_USE_REST", "Not a code of HTTP (FTP)."),
        .unexpected(32, "CURLE_OBSOLETE32", "Not used by libcurl."),
        .unexpected(33, "CURLE_RANGE_ERROR", "Not asked for: ranges are the client's."),
        .unexpected(34, "CURLE_HTTP_POST_ERROR", "Not used by libcurl any more."),
        CurlCode(35, "CURLE_SSL_CONNECT_ERROR", .tlsProtocolError, .securing, "The TLS handshake failed."),
        .unexpected(36, "CURLE_BAD_DOWNLOAD_RESUME", "Not asked for: libcurl resumes nothing."),
        .unexpected(37, "CURLE_FILE_COULDNT_READ_FILE", "Not a code of HTTP (FILE)."),
        .unexpected(38, "CURLE_LDAP_CANNOT_BIND", "Not a code of HTTP (LDAP)."),
        .unexpected(39, "CURLE_LDAP_SEARCH_FAILED", "Not a code of HTTP (LDAP)."),
        .unexpected(40, "CURLE_OBSOLETE40", "Not used by libcurl."),
        .unexpected(41, "CURLE_FUNCTION_NOT_FOUND", "A library function is missing."),
        .shared(42, "CURLE_ABORTED_BY_CALLBACK", nil, .abortedByProxy),
        .unexpected(43, "CURLE_BAD_FUNCTION_ARGUMENT", "libcurl was called incorrectly."),
        .unexpected(44, "CURLE_OBSOLETE44", "Not used by libcurl."),
        CurlCode(
            45, "CURLE_INTERFACE_FAILED", .proxyInternalError, .connecting,
            "The outgoing interface could not be used."),
        .unexpected(46, "CURLE_OBSOLETE46", "Not used by libcurl."),
        .unexpected(47, "CURLE_TOO_MANY_REDIRECTS", "Not asked for: redirects are the client's."),
        .unexpected(48, "CURLE_UNKNOWN_OPTION", "libcurl was called incorrectly."),
        .unexpected(49, "CURLE_SETOPT_OPTION_SYNTAX", "libcurl was called incorrectly."),
        .unexpected(50, "CURLE_OBSOLETE50", "Not used by libcurl."),
        .unexpected(51, "CURLE_OBSOLETE51", "Not used by libcurl."),
        .shared(52, "CURLE_GOT_NOTHING", nil, .closedBeforeResponse),
        CurlCode(
            53, "CURLE_SSL_ENGINE_NOTFOUND", .proxyInternalError, .securing,
            "Not asked for: no TLS engine is configured."),
        CurlCode(
            54, "CURLE_SSL_ENGINE_SETFAILED", .proxyInternalError, .securing,
            "Not asked for: no TLS engine is configured."),
        .shared(55, "CURLE_SEND_ERROR", nil, .closedBeforeResponse),
        .shared(56, "CURLE_RECV_ERROR", nil, .closedBeforeResponse),
        .unexpected(57, "CURLE_OBSOLETE57", "Not used by libcurl."),
        CurlCode(
            58, "CURLE_SSL_CERTPROBLEM", .proxyConfigurationError, .securing,
            "The client certificate cannot be used."),
        CurlCode(59, "CURLE_SSL_CIPHER", .tlsProtocolError, .securing, "No common TLS cipher was found."),
        CurlCode(
            60, "CURLE_PEER_FAILED_VERIFICATION", .tlsCertificateError, .securing,
            "The certificate of the origin is not trusted."),
        CurlCode(
            61, "CURLE_BAD_CONTENT_ENCODING", .httpResponseTransferCoding, nil,
            "The content encoding of the response could not be decoded."),
        .unexpected(62, "CURLE_OBSOLETE62", "Not used by libcurl."),
        CurlCode(63, "CURLE_FILESIZE_EXCEEDED", .httpResponseBodySize, nil, "The response is too large."),
        .unexpected(64, "CURLE_USE_SSL_FAILED", "Not a code of HTTP (FTP)."),
        CurlCode(
            65, "CURLE_SEND_FAIL_REWIND", .connectionTerminated, nil,
            "A reused connection was lost while the request was being sent."),
        CurlCode(
            66, "CURLE_SSL_ENGINE_INITFAILED", .proxyInternalError, .securing,
            "Not asked for: no TLS engine is configured."),
        .unexpected(67, "CURLE_LOGIN_DENIED", "Not a code of HTTP (FTP)."),
        .unexpected(68, "CURLE_TFTP_NOTFOUND", "Not a code of HTTP (TFTP)."),
        .unexpected(69, "CURLE_TFTP_PERM", "Not a code of HTTP (TFTP)."),
        .unexpected(70, "CURLE_REMOTE_DISK_FULL", "Not a code of HTTP (FTP)."),
        .unexpected(71, "CURLE_TFTP_ILLEGAL", "Not a code of HTTP (TFTP)."),
        .unexpected(72, "CURLE_TFTP_UNKNOWNID", "Not a code of HTTP (TFTP)."),
        .unexpected(73, "CURLE_REMOTE_FILE_EXISTS", "Not a code of HTTP (FTP)."),
        .unexpected(74, "CURLE_TFTP_NOSUCHUSER", "Not a code of HTTP (TFTP)."),
        .unexpected(75, "CURLE_OBSOLETE75", "Not used by libcurl."),
        .unexpected(76, "CURLE_OBSOLETE76", "Not used by libcurl."),
        CurlCode(
            77, "CURLE_SSL_CACERT_BADFILE", .proxyConfigurationError, .securing,
            "The trusted certificates cannot be read."),
        .unexpected(78, "CURLE_REMOTE_FILE_NOT_FOUND", "Not a code of HTTP (FTP)."),
        .unexpected(79, "CURLE_SSH", "Not a code of HTTP (SSH)."),
        CurlCode(
            80, "CURLE_SSL_SHUTDOWN_FAILED", .connectionTerminated, nil,
            "The TLS connection could not be shut down."),
        .unexpected(81, "CURLE_AGAIN", "Not a code of transfers."),
        CurlCode(
            82, "CURLE_SSL_CRL_BADFILE", .proxyConfigurationError, .securing,
            "Not asked for: no revocation list is configured."),
        CurlCode(
            83, "CURLE_SSL_ISSUER_ERROR", .tlsCertificateError, .securing,
            "The issuer of the certificate is not the expected one."),
        .unexpected(84, "CURLE_FTP_PRET_FAILED", "Not a code of HTTP (FTP)."),
        .unexpected(85, "CURLE_RTSP_CSEQ_ERROR", "Not a code of HTTP (RTSP)."),
        .unexpected(86, "CURLE_RTSP_SESSION_ERROR", "Not a code of HTTP (RTSP)."),
        .unexpected(87, "CURLE_FTP_BAD_FILE_LIST", "Not a code of HTTP (FTP)."),
        .unexpected(88, "CURLE_CHUNK_FAILED", "Not a code of HTTP (FTP)."),
        CurlCode(
            89, "CURLE_NO_CONNECTION_AVAILABLE", .connectionLimitReached, .connecting,
            "No connection was free."),
        CurlCode(
            90, "CURLE_SSL_PINNEDPUBKEYNOTMATCH", .tlsCertificateError, .securing,
            "Not asked for: no key is pinned."),
        CurlCode(
            91, "CURLE_SSL_INVALIDCERTSTATUS", .tlsCertificateError, .securing,
            "The certificate of the origin is revoked or its status is invalid."),
        CurlCode(
            92, "CURLE_HTTP2_STREAM", .httpProtocolError, nil, "The origin reset the HTTP/2 stream."),
        .unexpected(93, "CURLE_RECURSIVE_API_CALL", "libcurl was called incorrectly."),
        .unexpected(94, "CURLE_AUTH_ERROR", "Not asked for: credentials are the client's."),
        CurlCode(95, "CURLE_HTTP3", .httpProtocolError, nil, "The origin violated the HTTP/3 protocol."),
        CurlCode(
            96, "CURLE_QUIC_CONNECT_ERROR", .connectionRefused, .connecting,
            "The QUIC connection could not be made."),
        CurlCode(
            97, "CURLE_PROXY", .proxyConfigurationError, .connecting,
            "The parent proxy refused the connection."),
        CurlCode(
            98, "CURLE_SSL_CLIENTCERT", .tlsAlertReceived, .securing,
            "The origin requires a client certificate."),
        .unexpected(99, "CURLE_UNRECOVERABLE_POLL", "Polling the connection failed."),
        .unexpected(100, "CURLE_TOO_LARGE", "A value or a field is too large for libcurl."),
        CurlCode(
            101, "CURLE_ECH_REQUIRED", .tlsProtocolError, .securing, "Not asked for: ECH."),
    ]
}
