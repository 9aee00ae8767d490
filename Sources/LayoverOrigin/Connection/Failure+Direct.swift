import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverTLS
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// Why an attempt on a connection came to nothing.
enum FailureCause {
    /// The loop asked for it, or the worker shuts down.
    case cancelled
    /// The client's body will never be complete.
    case bodyBrokenOff
    /// `connect` has passed during the TLS handshake, or `firstByte`, `idle` or `restStallMax` has passed.
    case timedOut
    /// The permit to send was refused, because the store could not record the attempt. Nothing was sent.
    case notMarked
    /// TLS was not made, or broke.
    case notSecured(TLSError)
    /// The response breaks the rules of HTTP/1.
    case malformed(FramingError, isInHead: Bool)
    /// The address of this machine that the connection used is gone.
    case addressGone
    /// A success came, but the connection ended before the kernel had taken all of the request.
    case cut(status: Int, any Error)
    /// The connection ended, by this error. Nil: the origin closed the connection.
    case lost((any Error)?)
    /// Anything else, in the words of the one exchange that can meet it.
    case other(FailureReason)
}

/// How far an attempt got on its connection.
struct DirectProgress {
    /// Whether TLS was being made.
    var isSecuring: Bool
    /// Whether the connection has TLS with the origin itself.
    var isOriginSecure: Bool
    /// Bytes of the request, head and body, that the kernel has taken.
    var bytesSent: Int64
    /// Whether bytes were left to the channel, which does not tell how many it sent before it broke.
    var mayHaveSentMore: Bool
    /// Whether the kernel has taken all of the request.
    var isSent: Bool
    /// Whether some byte of a response came.
    var hasBegunResponse: Bool
    /// True if the final head came and was passed on. A withheld head does not count.
    var isAnswered: Bool
    /// Whether all of the response came before the request was sent.
    var isResponseOver: Bool
    /// Whether the connection had carried an earlier attempt.
    var isReused: Bool
    var localAddress: String?
    var remoteAddress: String?

    /// `neverSent` only where no byte can have left: the count is the kernel's own.
    var evidence: Evidence {
        if isAnswered { return .answered }
        return bytesSent > 0 || mayHaveSentMore ? .maybeApplied : .neverSent
    }

    var phase: FailurePhase {
        if isSecuring { return .securing }
        if isResponseOver { return .sending }
        if isAnswered { return .receiving }
        return isSent ? .awaitingResponse : .sending
    }
}

// From the cause of an end and the progress before it to a failure with evidence. Pure.

extension Failure {
    static func judged(_ cause: FailureCause, progress: DirectProgress) -> Failure {
        var progress = progress
        let isLastingRefusal = if case .notSecured(let error) = cause { error.isLastingRefusal } else { false }
        let mayHaveBegun = progress.hasBegunResponse || progress.isReused || !isLastingRefusal
        // Under TLS 1.3 the origin judges our end of the handshake when the request is on its way already.
        if !mayHaveBegun { progress.isSecuring = true }
        var failure = Failure(
            reason(of: cause, progress), phase: progress.phase, evidence: mayHaveBegun ? progress.evidence : .neverSent,
            bytesSent: progress.bytesSent, reusedConnection: progress.isReused, localAddress: progress.localAddress,
            remoteAddress: progress.remoteAddress)
        failure.isLastingRefusal = !mayHaveBegun
        return failure
    }

    private static func reason(of cause: FailureCause, _ progress: DirectProgress) -> FailureReason {
        switch cause {
        case .cancelled: .abortedByProxy
        case .bodyBrokenOff: .bodyBrokenOff
        case .timedOut where progress.isSecuring: .handshakeTimedOut
        case .notSecured(let error) where progress.isSecuring: notSecured(error)
        case .notSecured: lost(nil, progress)
        case .timedOut where progress.isResponseOver: .requestStalled
        case .timedOut where progress.isAnswered: .bodyStalled
        case .timedOut: .noResponseInTime
        case .notMarked: .startNotRecorded
        case .malformed(let error, let isInHead): FailureReason(error, isInHead: isInHead, mayUseHTTP2: progress.isOriginSecure)
        case .addressGone: .localAddressGone(isAnswered: progress.isAnswered)
        case .cut(let status, _):
            FailureReason(
                .connectionTerminated,
                "The origin answered with status \(status), but closed the connection before it had received the whole request.")
        case .lost(let error): lost(error, progress)
        case .other(let reason): reason
        }
    }

    private static func notSecured(_ error: TLSError) -> FailureReason {
        let (kind, message) = error.handshakeFailure()
        return FailureReason(kind, error.isNoCommonProtocol ? "\(message) \(FailureReason.hintAtHTTP2)" : message)
    }

    private static func lost(_ error: (any Error)?, _ progress: DirectProgress) -> FailureReason {
        // The peer is dead: it answered no probe (tcp(7)), or `PeerSilence` found that out.
        if (error as? IOError)?.errnoCode == ETIMEDOUT { return .nothingAcknowledged(isSent: progress.isSent) }
        if progress.evidence == .neverSent { return .closedBeforeSending }
        if progress.isResponseOver { return .requestCut }
        return .closed(hasBegun: progress.isAnswered || progress.hasBegunResponse)
    }

    // MARK: Before anything is sent

    /// The request cannot be written into a request head.
    static let notAcceptable = Failure(.invalidURL, phase: .resolving, evidence: .neverSent)

    /// The connection was gone before it could be used.
    static func lostBeforeSending(_ error: (any Error)?, remoteAddress: String?) -> Failure {
        Failure(
            .closedOnceOpen, phase: .connecting, evidence: .neverSent, osError: (error as? IOError)?.errnoCode,
            remoteAddress: remoteAddress)
    }

    /// The kernel took no byte of the request.
    static func refusedByKernel(_ code: CInt, remoteAddress: String?) -> Failure {
        let reason = code == ETIMEDOUT ? FailureReason.nothingAcknowledged(isSent: false) : .closedBeforeSending
        return Failure(reason, phase: .sending, evidence: .neverSent, remoteAddress: remoteAddress)
    }
}
