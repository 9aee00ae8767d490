import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

extension Transfer {
    /// Makes the last event of the attempt, before the handle is removed and its facts are gone.
    func conclude(_ code: CURLcode) -> UpstreamEvent {
        if isDial { return concludeDial(code) }
        let isEndUnclosed = code == CURLE_OK && receiving.isEndUnclosed && receiving.framing == .untilClose
        let result = isEndUnclosed ? CURLE_PARTIAL_FILE : code
        if isComplete(result) {
            passOnWithheld()
            let trailers = trailerAssembler.bytes
            return .end(trailers: trailers.readableBytes > 0 ? trailers : nil)
        }
        if let end = concludeLeftover(code) { return end }
        attempt?.isEndUnclosed = isEndUnclosed && (receiving.isError || isRequestSent)
        // The last piece of a success whose request was cut is not passed on.
        if receiving.isError || !isResponseComplete { releaseBody() }
        return .failed(Failure.judged(code: result, cause: abortCause, progress: progress))
    }

    private func isComplete(_ code: CURLcode) -> Bool {
        guard let framing = receiving.framing else { return false }
        if case .length(let count) = framing, receiving.bodyByteCount != count { return false }
        if case .answeredAlready? = abortCause { return true }
        guard abortCause == nil else { return false }
        // A success is not told for a request that was cut.
        let isSent = code == CURLE_OK ? sending.reader?.isComplete != false : isRequestSent
        if !isSent, !sending.isStopped, !isHeadWithBody, !receiving.isError { return false }
        // Complete with its head, whatever became of the connection then.
        if framing == .none || code == CURLE_OK { return true }
        // An origin that refuses a body may close while it is sent.
        guard receiving.isError, isResponseComplete || receiving.isStreamEnded else { return false }
        return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_HTTP2_STREAM && receiving.isStreamEnded
    }

    private func concludeDial(_ code: CURLcode) -> UpstreamEvent {
        if code == CURLE_OK, abortCause.isDialHarmless {
            var socket = CURL_SOCKET_BAD
            layover_get_socket(easy, CURLINFO_ACTIVESOCKET, &socket)
            // libcurl closes its own when the handle is removed.
            let copy = socket >= 0 ? fcntl(socket, F_DUPFD_CLOEXEC, 3) : -1
            if copy >= 0 {
                if let attempt, attempt.wantsConnectionFacts { attempt.connectionFacts = connectionFacts }
                return .dialled(
                    DialledSocket(descriptor: copy, remoteAddress: text(CURLINFO_PRIMARY_IP)))
            }
            return .failed(
                Failure(
                    phase: .connecting, kind: .connectionLimitReached, evidence: .neverSent,
                    message: "The connection was made, but its descriptor could not be duplicated.", osError: errno,
                    remoteAddress: text(CURLINFO_PRIMARY_IP)))
        }
        return .failed(Failure.judged(code: code, cause: abortCause, progress: progress))
    }

    /// What connection the attempt runs on.
    var connectionFacts: ConnectionFacts {
        ConnectionFacts(
            localAddress: text(CURLINFO_LOCAL_IP), remoteAddress: text(CURLINFO_PRIMARY_IP),
            reusedConnection: sending.wasOnReusedConnection,
            bytesSent: max(0, sentByteCount - sending.connectByteCount))
    }

    /// Bytes that libcurl has sent for the attempt, those of CONNECT included.
    var sentByteCount: Int64 { Int64(long(CURLINFO_REQUEST_SIZE)) + Int64(offset(CURLINFO_SIZE_UPLOAD_T)) }

    /// How far the attempt got.
    private var progress: TransferProgress {
        var progress = TransferProgress()
        progress.isSecure = setOptions.isSecure
        progress.parentProxyUse = attempt?.request.parentProxyUse ?? .none
        progress.isParentProxySecure = attempt?.request.parentProxy?.isSecure == true
        guard resolving.wasAdded else { return progress }
        progress.isResolved = resolving.endsAt == nil && offset(CURLINFO_NAMELOOKUP_TIME_T) > 0
        // libcurl tells the time of the connect only once TLS stands (7.88.1), but counts the connection before.
        progress.isConnected = offset(CURLINFO_CONNECT_TIME_T) > 0 || long(CURLINFO_NUM_CONNECTS) > 0
        if progress.parentProxyUse == .tunnel {
            progress.connectStatus = long(CURLINFO_HTTP_CONNECTCODE)
            progress.connectLineByteCount = long(CURLINFO_HEADER_SIZE)
            progress.connectBytesSent = sending.connectByteCount
            progress.proxyError = long(CURLINFO_PROXY_ERROR)
            progress.isSecuringParentProxy = progress.isParentProxySecure && !sending.hasAskedParentProxy
        }
        progress.sendingCount = sending.count
        progress.isRefused = sending.isRefused
        progress.isReused = sending.wasOnReusedConnection
        progress.isSendingFresh = sending.turn == loop.turn
        progress.isBodyComplete = sending.reader?.isComplete != false
        progress.hasBegunResponse = receiving.hasBegun
        progress.isAnswered = receiving.framing != nil && receiving.withheldHead == nil
        progress.isResponseOver = receiving.isOver
        progress.bytesSent = sentByteCount
        progress.osError = Int32(truncatingIfNeeded: long(CURLINFO_OS_ERRNO))
        progress.socketError = socketError
        progress.localAddress = text(CURLINFO_LOCAL_IP)
        progress.remoteAddress = text(CURLINFO_PRIMARY_IP)
        progress.remark = errorText.pointee == 0 ? "" : String(cString: errorText)
        return progress
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        layover_get_long(easy, info, &value)
        return value
    }

    private func offset(_ info: CURLINFO) -> curl_off_t {
        var value: curl_off_t = 0
        layover_get_offset(easy, info, &value)
        return value
    }

    private func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard layover_get_string(easy, info, &value) == CURLE_OK, let value, value.pointee != 0 else {
            return nil
        }
        return String(cString: value)
    }
}

extension AbortCause? {
    /// A refused address among several that could be reached does not spoil a dial.
    fileprivate var isDialHarmless: Bool {
        switch self {
        case nil, .addressRefused?: true
        default: false
        }
    }
}
