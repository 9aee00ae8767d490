import LayoverEngine

/// How far a transfer got, as libcurl and our own callbacks saw it.
struct TransferProgress {
    /// How the request goes through a parent proxy.
    var parentProxyUse = ParentProxyUse.none
    /// The status with which the parent proxy answered CONNECT; 0: no status line came (CURLINFO_HTTP_CONNECTCODE).
    var connectStatus = 0
    /// Bytes of the lines that came for CONNECT, as long as the request is not sent (CURLINFO_HEADER_SIZE).
    var connectLineByteCount = 0
    /// Bytes of CONNECT among `bytesSent`.
    var connectBytesSent: Int64 = 0
    /// Whether the parent proxy speaks TLS.
    var isParentProxySecure = false
    /// Whether the parent proxy speaks TLS and was not asked for a tunnel yet.
    var isSecuringParentProxy = false
    /// CURLINFO_PROXY_ERROR.
    var proxyError = 0
    /// Whether TLS was to be made.
    var isSecure = false
    var isResolved = false
    var isConnected = false
    /// How often the request went out.
    var sendingCount = 0
    /// Whether the origin said that it has not processed the request.
    var isRefused = false
    /// Whether the request went out on a connection that had carried an earlier one.
    var isReused = false
    /// Whether the request went out in this very turn, so that libcurl has not come back to write more of it.
    var isSendingFresh = false
    var isBodyComplete = true
    /// Whether some line of a head came.
    var hasBegunResponse = false
    /// True if the final head is complete and not withheld.
    var isAnswered = false
    /// Whether the response is complete. The request may not be.
    var isResponseOver = false
    /// CURLINFO_REQUEST_SIZE and CURLINFO_SIZE_UPLOAD_T. A head that did not fit into the socket at once is
    /// not counted whole.
    var bytesSent: Int64 = 0
    /// CURLINFO_OS_ERRNO; means something only where connecting failed.
    var osError: Int32 = 0
    /// errno of a socket(2) that failed.
    var socketError: Int32?
    var localAddress: String?
    var remoteAddress: String?
    /// libcurl's own words (CURLOPT_ERRORBUFFER(3)).
    var remark = ""
}
