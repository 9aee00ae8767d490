import CCurl
import LayoverCore
import LayoverEngine

// What a failure means where there is a parent proxy. Pure.
//
// The proxy is away where TCP to it, or TLS with it, could not be made; libcurl counts the connection once TCP stands. Whatever goes
// wrong after that is about the origin behind it: one origin that cannot be reached must not shut the way to all others.

extension Failure {
    static func behindParentProxy(_ failure: Failure, _ row: CurlCode, isOurs: Bool, _ progress: TransferProgress) -> Failure {
        guard progress.sendingCount == 0 else { return failure }
        if progress.parentProxyUse != .tunnel || !progress.isConnected { return failure.ofParentProxy }
        guard !isOurs else { return failure }
        var failure = failure
        failure.phase = .connecting
        if progress.connectStatus > 0, progress.connectStatus / 100 != 2 {
            return failure.refusedByParentProxy(progress.connectStatus)
        }
        if row.number == 97 { return refusedBySocks(progress.proxyError, failure) }
        // The tunnel is open, so the failure is about TLS with the origin.
        if progress.connectStatus / 100 == 2 {
            failure.phase = .securing
            return failure
        }
        if progress.isSecuringParentProxy {
            failure.phase = .securing
            return failure.ofParentProxy
        }
        switch row.number {
        // TLS with the proxy, whose alert may come after CONNECT.
        case 35, 60, 83, 91:
            failure.phase = .securing
            return failure.ofParentProxy
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
            (failure.kind, what) = (.parentProxyMisconfigured, "The parent proxy does not accept the credentials. See upstreamProxy.url.")
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
