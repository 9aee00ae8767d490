import Glibc
import LayoverCore
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

extension TransferProgress {
    /// Which kind a failed connect is, by its errno (connect(2), socket(2)).
    var connectKind: FailureKind {
        if socketError != nil { return .connectionLimitReached }
        return switch osError {
        case ECONNREFUSED: .connectionRefused
        case ETIMEDOUT: .connectionTimeout
        case ECONNRESET, ECONNABORTED, EPIPE: .connectionTerminated
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EACCES, EPERM, EINVAL,
            ENONET, EAFNOSUPPORT:
            .destinationIPUnroutable
        case EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN: .connectionLimitReached
        default: .destinationUnavailable
        }
    }
}

/// Why we ended a transfer ourselves. libcurl then only reports that somebody did.
enum AbortCause: Sendable {
    /// The loop asked for it, or the worker shuts down.
    case cancelled
    /// The client's body will never be complete.
    case bodyBrokenOff
    /// `connect` has passed before the name was resolved, or `firstByte`, `idle` or `restStallMax` has passed.
    case timedOut
    /// Nothing came back from the peer for `deadPeer`.
    case peerDead
    /// The address of this machine that the connection used is gone.
    case addressGone
    /// The address guard said no.
    case addressRefused(FailureKind)
    /// libcurl needed a name that it had not been given.
    case nameMissing
    /// The name of the origin has no addresses.
    case nameFailed(NameFailure, name: String)
    /// The reused connection had bytes to read, or its end, before the request was sent.
    case connectionSpoilt
    /// libcurl wanted to send a request again that must not be sent twice, or whose body was not kept.
    case secondSending
    /// The origin refused the stream, and libcurl wanted to send the request again. That is for the policy to say.
    case streamRefused
    /// The permit to send was refused, because the store could not record the attempt. Nothing was sent.
    case notMarked
    /// libcurl wanted to send again after a complete response (417 to an Expect).
    case answeredAlready
    /// The response breaks the rules of HTTP/1, or is over a limit.
    case malformedResponse(FailureReason)
}

extension AbortCause? {
    var isNameMissing: Bool {
        if case .nameMissing? = self { return true }
        return false
    }

    /// A refused address among several that could be reached does not spoil a dial.
    var isDialHarmless: Bool {
        switch self {
        case nil, .addressRefused?: true
        default: false
        }
    }
}
