import Glibc
import LayoverCore

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
