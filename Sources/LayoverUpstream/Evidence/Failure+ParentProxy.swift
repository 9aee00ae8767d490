import CCurl
import LayoverCore
import LayoverEngine

// What a failure means where there is a parent proxy. Pure.
//
// The proxy is away where TCP to it, or TLS with it, could not be made; libcurl counts the connection once TCP stands. Whatever goes
// wrong after that is about the origin behind it: one origin that cannot be reached must not shut the way to all others.

extension Failure {
    static func behindParentProxy(_ failure: Failure, _ row: CurlCode, isOurs: Bool, _ progress: TransferProgress) -> Failure {
        var failure = failure
        // CONNECT is no part of the request.
        failure.bytesSent = progress.sendingCount == 0 ? 0 : max(0, failure.bytesSent - progress.connectBytesSent)
        guard progress.sendingCount == 0 else { return failure }
        if progress.parentProxyUse != .tunnel || !progress.isConnected { return failure.ofParentProxy }
        guard !isOurs else { return failure }
        failure.phase = .connecting
        if row.number == 97 { return refusedBySocks(progress.proxyError, failure) }
        switch progress.connectResponse(row) {
        // RFC 9110 section 15.2 allows it. libcurl 7.88.1 takes it for the final response.
        case .refusal(let status) where status / 100 == 1:
            return failure.misansweredByParentProxy(
                "The parent proxy answered CONNECT with an interim response (status \(status)), and libcurl waits for no other.")
        case .refusal(let status): return failure.refusedByParentProxy(status)
        case .noHTTP: return failure.misansweredByParentProxy(parentProxyIsNoHTTP)
        case .tooLarge: return failure.misansweredByParentProxy(parentProxyAnswerTooLarge)
        // The failure is about TLS with the origin.
        case .open:
            failure.phase = .securing
            return failure
        case .incomplete: break
        }
        if progress.isSecuringParentProxy {
            failure.phase = .securing
            return failure.ofParentProxy
        }
        switch row.number {
        case 35, 60, 83, 91:
            failure.phase = .securing
            // TLS with the proxy, whose alert may come after CONNECT. Behind SOCKS it is TLS with the origin: no answer to CONNECT comes.
            return progress.isParentProxySecure ? failure.ofParentProxy : failure
        case 28: return failure.timedOutAtParentProxy
        case 52, 55, 56: return failure.closedByParentProxy
        default: return failure
        }
    }

    /// RFC 1928 section 6; the numbers are those of `CURLPX_…` (curl/curl.h).
    private static func refusedBySocks(_ error: Int, _ failure: Failure) -> Failure {
        var failure = failure
        let what: String
        switch CURLproxycode(UInt32(error)) {
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
            (failure.kind, what) = (.destinationIPUnroutable, "The origin is unreachable for the parent proxy.")
        case CURLPX_REPLY_CONNECTION_REFUSED:
            (failure.kind, what) = (.connectionRefused, "The origin refused the connection of the parent proxy.")
        case CURLPX_REPLY_NOT_ALLOWED:
            (failure.kind, what) = (.parentProxyDenied, "The rules of the parent proxy do not allow the connection to the origin.")
        case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REQUEST_FAILED:
            (failure.kind, what) = (.parentProxyMisconfigured, "The parent proxy does not accept the credentials. See upstreamProxy.")
        case CURLPX_BAD_VERSION, CURLPX_UNKNOWN_MODE, CURLPX_BAD_ADDRESS_TYPE, CURLPX_LONG_HOSTNAME, CURLPX_LONG_USER, CURLPX_LONG_PASSWD,
            CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED:
            (failure.kind, what) = (.parentProxyMisconfigured, "The parent proxy cannot do what is asked of it by SOCKS 5.")
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE, CURLPX_REPLY_UNASSIGNED:
            (failure.kind, what) = (.destinationUnavailable, "The parent proxy could not connect to the origin.")
        default: return failure.closedByParentProxy
        }
        failure.message = what
        return failure
    }
}

/// What the parent proxy answered to CONNECT, as far as libcurl reports it.
enum ConnectResponse: Sendable, Equatable {
    /// A whole response that is no success.
    case refusal(status: Int)
    /// Lines without a status line before them.
    case noHTTP
    /// More than libcurl reads.
    case tooLarge
    /// A whole 2xx: the tunnel is open.
    case open
    /// No whole line, or only a part of the response. Bytes without a line end are not reported.
    case incomplete
}

extension TransferProgress {
    /// libcurl reports the status as soon as the status line has come, so its result code and its words have to show whether the rest came.
    func connectResponse(_ row: CurlCode) -> ConnectResponse {
        if ["CONNECT response too large", "Too large response headers"].contains(where: { remark.hasPrefix($0) }) { return .tooLarge }
        if connectStatus == 0 { return connectLineByteCount > 0 ? .noHTTP : .incomplete }
        let isAborted = ["Proxy CONNECT aborted", "Recv failure", "OpenSSL SSL_read"].contains { remark.hasPrefix($0) }
        // TLS with the origin fails by other codes than reading the response, except for a time-out.
        guard connectStatus / 100 != 2 else { return isAborted && row.number == 28 || [55, 56].contains(row.number) ? .incomplete : .open }
        return isAborted || row.number == 28 ? .incomplete : .refusal(status: connectStatus)
    }
}
