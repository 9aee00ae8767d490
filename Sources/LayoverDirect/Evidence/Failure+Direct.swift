import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore
#if canImport(Glibc)
import Glibc
#endif

// From the cause of an end and the progress before it to a failure with evidence. Pure.

extension Failure {
    static func judged(_ cause: FailureCause, progress: DirectProgress) -> Failure {
        var progress = progress
        let isLastingRefusal = if case .notSecured(let error) = cause { error.isLastingRefusal } else { false }
        let mayHaveBegun = progress.hasBegunResponse || progress.isReused || !isLastingRefusal
        // Under TLS 1.3 the origin judges our end of the handshake when the request is on its way already.
        if !mayHaveBegun { progress.isSecuring = true }
        let (kind, message) = judged(cause, progress)
        var failure = Failure(
            phase: progress.phase, kind: kind, evidence: mayHaveBegun ? progress.evidence : .neverSent, message: message,
            bytesSent: progress.bytesSent, reusedConnection: progress.isReused, localAddress: progress.localAddress,
            remoteAddress: progress.remoteAddress)
        failure.isLastingRefusal = !mayHaveBegun
        return failure
    }

    private static func judged(_ cause: FailureCause, _ progress: DirectProgress) -> (FailureKind, String) {
        switch cause {
        case .cancelled: (.proxyInternalError, abortedByProxy.message)
        case .bodyBrokenOff: (.httpRequestError, "The client disconnected before its body was complete.")
        case .timedOut where progress.isSecuring: (.connectionTimeout, "The TLS handshake timed out.")
        case .notSecured(let error) where progress.isSecuring: notSecured(error)
        case .notSecured: lost(nil, progress)
        case .timedOut where progress.isResponseOver: (.connectionWriteTimeout, "The origin answered, but stopped reading the request.")
        case .timedOut where progress.isAnswered: (.connectionReadTimeout, "The response stalled for too long.")
        case .timedOut: (.httpResponseTimeout, "No response began in time.")
        case .notMarked: (.proxyInternalError, "The store could not record the attempt, so nothing was sent.")
        case .malformed(.isHTTP2, _): (.httpProtocolError, "\(FramingError.isHTTP2.reason) \(hintAtHTTP2)")
        case .malformed(let error, let isInHead): (kind(of: error, isInHead: isInHead), "\(error.reason)")
        case .addressGone:
            (progress.isAnswered ? .httpResponseIncomplete : .connectionTerminated, LocalAddress.goneMessage)
        case .cut(let status, _):
            (
                .connectionTerminated,
                "The origin answered with status \(status), but closed the connection before it had received the whole request."
            )
        case .lost(let error): lost(error, progress)
        }
    }

    private static func kind(of error: FramingError, isInHead: Bool) -> FailureKind {
        guard isInHead else { return .httpResponseTransferCoding }
        return error.isSizeOfHead ? .httpResponseHeaderSectionSize : .httpProtocolError
    }

    private static func notSecured(_ error: TLSError) -> (FailureKind, String) {
        let (kind, message) = error.handshakeFailure()
        return (kind, error.isNoCommonProtocol ? "\(message) \(Failure.hintAtHTTP2)" : message)
    }

    private static func lost(_ error: (any Error)?, _ progress: DirectProgress) -> (FailureKind, String) {
        // The peer is dead: it answered no probe (tcp(7)), or `PeerSilence` found that out.
        if (error as? IOError)?.errnoCode == ETIMEDOUT {
            let kind: FailureKind = progress.isSent ? .connectionReadTimeout : .connectionWriteTimeout
            return (kind, "The origin acknowledged nothing for too long.")
        }
        if progress.evidence == .neverSent { return (.connectionTerminated, "The connection was closed before anything was sent.") }
        if progress.isResponseOver {
            return (.connectionTerminated, "The origin answered, but closed the connection before it had received the whole request.")
        }
        if progress.isAnswered || progress.hasBegunResponse {
            return (.httpResponseIncomplete, "The connection was closed before the response was complete.")
        }
        return (.connectionTerminated, "The connection was closed before a response arrived.")
    }

    // MARK: Before anything is sent

    /// The request cannot be written into a request head.
    static let notAcceptable = Failure(
        phase: .resolving, kind: .httpRequestError, evidence: .neverSent, message: "The request URL is not valid.")

    /// The connection was gone before it could be used.
    static func lostBeforeSending(_ error: (any Error)?, remoteAddress: String?) -> Failure {
        Failure(
            phase: .connecting, kind: .connectionTerminated, evidence: .neverSent,
            message: "The connection was closed as soon as it was open.", osError: (error as? IOError)?.errnoCode,
            remoteAddress: remoteAddress)
    }

    /// The kernel took no byte of the request.
    static func refusedByKernel(_ code: CInt, remoteAddress: String?) -> Failure {
        Failure(
            phase: .sending, kind: code == ETIMEDOUT ? .connectionWriteTimeout : .connectionTerminated, evidence: .neverSent,
            message: "The connection was closed before anything was sent.", remoteAddress: remoteAddress)
    }
}
