import CCurl
import LayoverCore
import LayoverEngine
import LayoverHTTP

// From result code, our own reason to stop, and progress to a failure with evidence. Pure.
//
// The rule that must never be wrong: `neverSent` only where no byte of the request can have left.

extension Failure {
    static func judged(code: CURLcode, cause: AbortCause?, progress: TransferProgress) -> Failure {
        let row = CurlCode.named(Int32(bitPattern: code.rawValue))
        let refusal = cause == nil ? progress.lastingRefusal(row) : nil
        let phase = refusal == nil ? progress.phase(of: row) : .securing
        let reason =
            cause.map { judged($0, phase: phase, isResponseOver: progress.isResponseOver) }
            ?? refusal.map { refused(by: $0) }
            ?? judged(row, phase: phase, progress: progress)
        var failure = Failure(
            reason, phase: phase, evidence: refusal == nil ? progress.evidence : .neverSent,
            osError: phase == .connecting ? progress.connectError(row) : nil,
            bytesSent: progress.bytesSent, reusedConnection: progress.isReused,
            localAddress: progress.localAddress, remoteAddress: progress.remoteAddress)
        failure.curlCode = row.number
        failure.isNameUnknown = isNameUnknown(cause, progress)
        failure.isLastingRefusal = refusal != nil
        return progress.parentProxyUse == .none ? failure : behindParentProxy(failure, row, isOurs: cause != nil, progress)
    }

    private static func refused(by alert: TLSAlert) -> FailureReason {
        let name = alert.name.map { ": \($0)" } ?? ""
        let reason = FailureReason.alertReceived("alert \(alert.number)\(name)", needsCertificate: alert.isAboutOurCertificate)
        return alert.number == 120 ? FailureReason(reason.kind, "\(reason.message) \(FailureReason.hintAtHTTP2)") : reason
    }

    private static func isNameUnknown(_ cause: AbortCause?, _ progress: TransferProgress) -> Bool {
        guard case .nameFailed(.unknown, _)? = cause else { return false }
        return progress.sendingCount == 0
    }

    private static func judged(_ cause: AbortCause, phase: FailurePhase, isResponseOver: Bool) -> FailureReason {
        switch cause {
        case .cancelled: .abortedByProxy
        case .bodyBrokenOff: .bodyBrokenOff
        case .timedOut where phase == .resolving: FailureReason(.dnsTimeout, "Resolving the origin's name timed out.")
        case .timedOut where isResponseOver: .requestStalled
        case .timedOut where phase == .receiving: .bodyStalled
        case .timedOut: .noResponseInTime
        case .peerDead: .nothingAcknowledged(isSent: phase != .sending)
        case .addressGone: .localAddressGone(isAnswered: phase == .receiving)
        case .addressRefused(let kind): FailureReason(kind, "The proxy does not connect to the address of the origin.")
        // The name was wanted for sending again on a new connection.
        case .nameMissing where !phase.isBeforeSending, .nameFailed where !phase.isBeforeSending:
            FailureReason(.connectionTerminated, "The connection was lost, and no new one could be made.")
        case .nameMissing: .nameNotResolved
        case .nameFailed(let failure, let name): FailureReason(failure.kind, failure.message(about: name))
        case .connectionSpoilt: FailureReason(.connectionTerminated, "The idle connection was no longer usable.")
        case .secondSending: FailureReason(.connectionTerminated, "The connection was lost, and the request cannot be sent again.")
        case .streamRefused: streamRefused
        case .notMarked: .startNotRecorded
        case .answeredAlready: FailureReason(.httpProtocolError, FailureReason.responseCut.message)
        case .malformedResponse(let reason): reason
        }
    }

    private static let streamRefused = FailureReason(
        .connectionTerminated, "The origin refused the HTTP/2 stream before it processed the request (REFUSED_STREAM).")

    private static func judged(_ row: CurlCode, phase: FailurePhase, progress: TransferProgress) -> FailureReason {
        if progress.isRefused { return streamRefused }
        if progress.sendingCount > 0, let reason = progress.brokenExchange(row, phase: phase) { return reason }
        let kind = progress.kind(of: row, phase: phase)
        // Before the request is sent libcurl's words name hosts, addresses and certificates only.
        let remark = phase.isBeforeSending && !progress.remark.isEmpty ? " (\(progress.remark))" : ""
        // libcurl's words for the alert of RFC 7301 section 3.2.
        let hint = remark.contains("no application protocol") ? " \(FailureReason.hintAtHTTP2)" : ""
        return FailureReason(kind, "\(progress.sentence(of: row, phase: phase))\(remark)\(hint)")
    }
}

extension TransferProgress {
    var evidence: Evidence {
        if isAnswered { return .answered }
        if sendingCount == 0 || isRefused && sendingCount == 1 { return .neverSent }
        // The one write that libcurl makes when a connection stands has failed, and no other followed.
        let isUntouched = sendingCount == 1 && !isReused && isSendingFresh && bytesSent == 0
        return isUntouched ? .neverSent : .maybeApplied
    }

    /// The alert by which the origin refused TLS for good, and acted on nothing that was sent; nil where it did not, or where that is not
    /// certain.
    ///
    /// Under TLS 1.3 it may come after the request was sent: then as an error of reading. libcurl does not report the version, so only
    /// the alert that TLS 1.3 introduced is proof. Nor does it report whether the origin asked for a certificate, so alert 40 is not
    /// lasting here.
    func lastingRefusal(_ row: CurlCode) -> TLSAlert? {
        guard isSecure, !hasBegunResponse, !isAnswered, !isReused, let alert = alert(row), alert.isLasting else { return nil }
        if sendingCount == 0 { return [35, 56, 98].contains(row.number) ? alert : nil }
        return sendingCount == 1 && row.number == 56 && alert.number == 116 ? alert : nil
    }

    /// libcurl quotes OpenSSL: `error:0A00045C:SSL routines::…`. An alert is 1000 plus its number there (ssl.h).
    private func alert(_ row: CurlCode) -> TLSAlert? {
        if row.number == 98 { return TLSAlert(116, isCertificateWanted: true) }
        guard let start = remark.firstRange(of: "error:") else { return nil }
        let digits = remark[start.upperBound...].prefix { $0.isHexDigit }
        guard let code = UInt32(digits, radix: 16), code >> 23 == 20 else { return nil }
        let reason = Int(code & 0x7F_FFFF)
        return (1_000..<1_256).contains(reason) ? TLSAlert(reason - 1_000) : nil
    }

    func phase(of row: CurlCode) -> FailurePhase {
        if isAnswered { return .receiving }
        if sendingCount > 0 { return isBodyComplete && bytesSent > 0 ? .awaitingResponse : .sending }
        if let phase = row.phase, phase.isBeforeSending { return phase }
        if !isResolved { return .resolving }
        return isConnected && isSecure ? .securing : .connecting
    }

    /// Whether the peer answered no probe of the kernel (tcp(7)): the error is ETIMEDOUT.
    private var isPeerDead: Bool { remark.contains("timed out") }

    /// What kind of failure the code stands for at this point.
    func kind(of row: CurlCode, phase: FailurePhase) -> FailureKind {
        switch row.number {
        case 7: connectKind
        case 28: phase == .resolving ? .dnsTimeout : .connectionTimeout
        case 35 where remark.contains("alert"): .tlsAlertReceived
        // A handshake that is cut off comes as one of these too.
        case 55, 56: isPeerDead ? .connectionReadTimeout : phase == .securing ? .tlsProtocolError : .connectionTerminated
        case 92: resetKind(row)
        default: row.kind
        }
    }

    /// A stream that was reset, or whose connection ended, counts as a lost connection of HTTP/1.1. Some error codes mean that a second
    /// sending would fail as well (RFC 9113 section 7); they keep the kind of the result code.
    private func resetKind(_ row: CurlCode) -> FailureKind {
        let codes = [
            "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        if codes.contains(where: remark.contains) { return row.kind }
        return FailureReason.closed(hasBegun: hasBegunResponse || isAnswered).kind
    }

    /// The sentence about the code where the request was not sent, or where only this code knows the reason.
    func sentence(of row: CurlCode, phase: FailurePhase) -> String {
        switch row.number {
        case 28 where phase == .securing: FailureReason.handshakeTimedOut.message
        case 55 where isPeerDead, 56 where isPeerDead: FailureReason.nothingAcknowledged(isSent: true).message
        case 55, 56: phase == .securing ? CurlCode.named(35).reason : FailureReason.closedBeforeSending.message
        default: row.reason
        }
    }

    /// Why the exchange broke after the request was sent; nil where the code does not stand for that.
    ///
    /// Send and receive errors stand for many things; libcurl's words tell some of them apart.
    func brokenExchange(_ row: CurlCode, phase: FailurePhase) -> FailureReason? {
        switch row.number {
        // A line of the head that is too long for libcurl. It takes 100 KB; a longer line is "out of memory" in 7.88.1, and
        // CURLE_TOO_LARGE in newer versions.
        case 27 where !isAnswered, 100 where !isAnswered: .headTooLarge
        case 56 where !isAnswered && remark.contains("Too large response headers"): .headTooLarge
        case 55 where isPeerDead, 56 where isPeerDead: .nothingAcknowledged(isSent: phase != .sending)
        case 56 where isAnswered && remark.contains("chunk"): brokenChunk
        case 55 where evidence == .neverSent: .closedBeforeSending
        case 52 where isResponseOver, 55 where isResponseOver, 56 where isResponseOver: .requestCut
        case 52, 55, 56: .closed(hasBegun: hasBegunResponse || isAnswered)
        default: nil
        }
    }

    /// libcurl decodes chunks, and says in words what is wrong with one. "Out of memory" is a trailer of more than 64 KB.
    private var brokenChunk: FailureReason {
        if remark.contains("Too long") { return FailureReason(.chunkSizeOverflow, isInHead: false) }
        if remark.contains("hexadecimal") { return FailureReason(.malformedChunkSize, isInHead: false) }
        if remark.contains("memory") { return FailureReason(.trailersTooLarge, isInHead: false) }
        if remark.contains("Malformed") { return FailureReason(.malformedChunkEnd, isInHead: false) }
        return FailureReason(.httpResponseTransferCoding, "A chunk of the response is malformed.")
    }

    func connectError(_ row: CurlCode) -> Int32? {
        if let socketError { return socketError }
        return row.number == 7 && osError != 0 ? osError : nil
    }
}

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
        case .tooLarge: return failure.misansweredByParentProxy(parentProxyResponseTooLarge)
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
