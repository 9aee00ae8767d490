import CCurl
import LayoverCore
import LayoverEngine

// From result code, our own reason to stop, and progress to a failure with evidence. Pure.
//
// The rule that must never be wrong: `neverSent` only where no byte of the request can have left.

extension Failure {
    static func judged(code: CURLcode, cause: AbortCause?, progress: TransferProgress) -> Failure {
        let row = CurlCode.named(Int32(bitPattern: code.rawValue))
        let refusal = cause == nil ? progress.lastingRefusal(row) : nil
        let phase = refusal == nil ? progress.phase(of: row) : .securing
        let (kind, message) =
            cause.map { judged($0, phase: phase) }
            ?? refusal.map { refused(by: $0, progress) }
            ?? judged(row, phase: phase, progress: progress)
        var failure = Failure(
            phase: phase, kind: kind, evidence: refusal == nil ? progress.evidence : .neverSent, message: message,
            curlCode: row.number,
            osError: phase == .connecting ? progress.connectError(row) : nil,
            bytesSent: progress.bytesSent, reusedConnection: progress.isReused,
            localAddress: progress.localAddress, remoteAddress: progress.remoteAddress,
            isNameUnknown: isNameUnknown(cause, progress))
        failure.isLastingRefusal = refusal != nil
        return progress.parentProxyUse == .none ? failure : behindParentProxy(failure, row, isOurs: cause != nil, progress)
    }

    private static func refused(by alert: TLSAlert, _ progress: TransferProgress) -> (FailureKind, String) {
        let name = alert.name.map { ": \($0)" } ?? ""
        var message = "The origin ended the TLS handshake (alert \(alert.number)\(name))."
        if alert.isAboutOurCertificate { message += " \(clientCertificateHint)" }
        if alert.number == 120 { message += " \(hintAtHTTP2)" }
        return (.tlsAlertReceived, message)
    }

    private static func isNameUnknown(_ cause: AbortCause?, _ progress: TransferProgress) -> Bool {
        guard case .nameFailed(.unknown, _)? = cause else { return false }
        return progress.sendingCount == 0
    }

    private static func judged(_ cause: AbortCause, phase: FailurePhase) -> (FailureKind, String) {
        switch cause {
        case .cancelled: (.proxyInternalError, abortedByProxy.message)
        case .bodyBrokenOff: (.httpRequestError, "The client disconnected before its body was complete.")
        case .timedOut where phase == .resolving:
            (.dnsTimeout, "Resolving the origin's name timed out.")
        case .timedOut where phase == .receiving:
            (.connectionReadTimeout, "The response stalled for too long.")
        case .timedOut: (.httpResponseTimeout, "No response began in time.")
        case .peerDead:
            (phase == .sending ? .connectionWriteTimeout : .connectionReadTimeout, "The origin acknowledged nothing for too long.")
        case .addressGone:
            (phase == .receiving ? .httpResponseIncomplete : .connectionTerminated, LocalAddress.goneMessage)
        case .addressRefused(let kind): (kind, "The proxy does not connect to the address of the origin.")
        // The name was wanted for sending again on a new connection.
        case .nameMissing where !phase.isBeforeSending, .nameFailed where !phase.isBeforeSending:
            (.connectionTerminated, "The connection was lost, and no new one could be made.")
        case .nameMissing: (.dnsError, "The name of the origin could not be resolved.")
        case .nameFailed(let failure, let name): (failure.kind, failure.message(about: name))
        case .connectionSpoilt:
            (.connectionTerminated, "The idle connection was no longer usable.")
        case .secondSending:
            (.connectionTerminated, "The connection was lost, and the request cannot be sent again.")
        case .streamRefused: streamRefused
        case .notMarked:
            (.proxyInternalError, "The store could not record the attempt, so nothing was sent.")
        case .answeredAlready: (.httpProtocolError, "The response ended before it was complete.")
        case .malformedResponse(let kind, let reason): (kind, "\(reason)")
        }
    }

    private static let streamRefused = (
        FailureKind.connectionTerminated, "The origin refused the HTTP/2 stream before it processed the request (REFUSED_STREAM)."
    )

    private static func judged(
        _ row: CurlCode, phase: FailurePhase, progress: TransferProgress
    ) -> (FailureKind, String) {
        if progress.isRefused { return streamRefused }
        let kind = progress.kind(of: row, phase: phase)
        // Before the request is sent libcurl's words name hosts, addresses and certificates only.
        let remark = phase.isBeforeSending && !progress.remark.isEmpty ? " (\(progress.remark))" : ""
        let isHandshakeLate = phase == .securing && kind == .connectionTimeout
        // libcurl's words for the alert of RFC 7301 section 3.2, and its code for bytes that do not begin as HTTP/1 does.
        let mayBeHTTP2 = remark.contains("no application protocol") || row.number == 1 && progress.isSecure
        let hint = mayBeHTTP2 ? " \(Failure.hintAtHTTP2)" : ""
        let reason = isHandshakeLate ? "The TLS handshake timed out." : row.reason
        return (kind, "\(reason)\(remark)\(hint)")
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

    /// What kind of failure the code stands for at this point.
    func kind(of row: CurlCode, phase: FailurePhase) -> FailureKind {
        switch row.number {
        case 7: connectKind
        case 28: phase == .resolving ? .dnsTimeout : .connectionTimeout
        case 35 where remark.contains("alert"): .tlsAlertReceived
        case 55, 56: brokenKind(row, phase: phase)
        case 92: resetKind(row)
        default: row.kind
        }
    }

    /// Send and receive errors stand for many things; libcurl's words tell some of them apart.
    private func brokenKind(_ row: CurlCode, phase: FailurePhase) -> FailureKind {
        // The peer is dead: it answered no probe (tcp(7)).
        if remark.contains("timed out") {
            return phase == .sending ? .connectionWriteTimeout : .connectionReadTimeout
        }
        // A handshake that is cut off comes as one of these too.
        if sendingCount == 0 { return phase == .securing ? .tlsProtocolError : .connectionTerminated }
        guard isAnswered else { return row.kind }
        return remark.contains("chunk") ? .httpResponseTransferCoding : .httpResponseIncomplete
    }

    /// A stream that was reset, or whose connection ended, counts as a lost connection of HTTP/1.1. Some error codes mean that a second
    /// sending would fail as well (RFC 9113 section 7); they keep the kind of the result code.
    private func resetKind(_ row: CurlCode) -> FailureKind {
        let codes = [
            "PROTOCOL_ERROR", "FLOW_CONTROL_ERROR", "FRAME_SIZE_ERROR", "COMPRESSION_ERROR", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        if codes.contains(where: remark.contains) { return row.kind }
        return isAnswered ? .httpResponseIncomplete : .connectionTerminated
    }

    func connectError(_ row: CurlCode) -> Int32? {
        if let socketError { return socketError }
        return row.number == 7 && osError != 0 ? osError : nil
    }
}
