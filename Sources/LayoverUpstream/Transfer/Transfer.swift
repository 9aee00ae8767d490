import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// One easy handle and the attempt that it carries at the moment.
///
/// Confined to the worker's thread. libcurl holds unretained pointers to it; the worker's loop keeps it
/// until the handle is removed and, in `deinit`, freed.
///
/// Life: `begin` → added to a multi handle → callbacks → (`restartsAfter` → added again)* → `conclude` →
/// removed → `end` → begin …
final class Transfer {
    let easy: UnsafeMutableRawPointer
    /// The loop outlives its transfers.
    unowned(unsafe) let loop: WorkerLoop
    var generation: MultiGeneration?
    private(set) var slot = 0
    /// Tells this use of the slot from later ones.
    private(set) var serial: UInt64 = 0
    /// Nil between two attempts.
    private(set) var attempt: UpstreamAttempt?
    /// Whether the turn's end will call `handOver`.
    var isTouched = false
    /// Set when we end the transfer, before libcurl reports that it ended.
    var abortCause: AbortCause?

    /// Options as they were set last.
    var easyOptions: EasyOptions
    let errorText: UnsafeMutablePointer<CChar>

    // Progress of the name, the connection and of sending.
    var resolving = ResolvingState()
    var sending = SendingState()
    /// Sockets that were opened for this attempt; closed ones stay in the list.
    var openedSockets: [CInt] = []
    /// errno of a socket(2) that failed.
    var socketError: CInt?
    /// The socket that the request was sent on; -1 before.
    var descriptor: CInt = -1

    // Progress of the response.
    var receiving = ReceivingState()
    var headAssembler: ResponseHeadAssembler
    var trailerAssembler: ResponseTrailerAssembler
    /// Bytes of the body that are not handed to the loop yet: those of this turn, and the withheld end of a success.
    var pendingBody = ByteBuffer()

    init?(loop: WorkerLoop) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.loop = loop
        easyOptions = EasyOptions(of: easy)
        headAssembler = ResponseHeadAssembler(limits: loop.options.responseLimits)
        // libcurl finds the end of the body.
        headAssembler.isFramedByOther = true
        trailerAssembler = ResponseTrailerAssembler(limits: loop.options.responseLimits)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        layover_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        CurlCallbacks.set(for: self)
        easyOptions.setConstants(of: loop)
    }

    deinit {
        curl_easy_cleanup(easy)
        easyOptions.deallocate()
        errorText.deallocate()
    }

    /// The transfer whose handle it is.
    static func carried(by easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafePointer<CChar>?
        guard layover_get_string(easy, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else {
            return nil
        }
        return Unmanaged<Transfer>.fromOpaque(UnsafeRawPointer(context)).takeUnretainedValue()
    }

    // MARK: Life

    func begin(_ attempt: UpstreamAttempt, slot: Int, serial: UInt64) {
        self.slot = slot
        self.serial = serial
        self.attempt = attempt
        attempt.workerState = self
        abortCause = nil
        socketError = nil
        openedSockets.removeAll(keepingCapacity: true)
        descriptor = -1
        resolving = ResolvingState()
        resolving.beganAt = loop.now
        sending = SendingState()
        receiving = ReceivingState()
        errorText.pointee = 0
        easyOptions.set(for: attempt)
        headAssembler.reset(isHeadRequest: attempt.request.method == "HEAD")
        trailerAssembler.reset()
        openReader()
    }

    /// Whether the attempt must be made again: its connection was spoilt before anything of it was sent, or
    /// libcurl needs a new connection and did not have the addresses of the name.
    ///
    /// The latter may come after a sending: libcurl sends again what may be sent twice.
    func restartsAfter(_ code: CURLcode) -> Bool {
        switch abortCause {
        case .connectionSpoilt?: code == CURLE_ABORTED_BY_CALLBACK
        case .nameMissing?:
            resolving.missCount <= Self.missCountMax && receiving.framing == nil
                && (sending.count == 0 || attempt?.request.mayBeSentTwice == true)
        default: false
        }
    }

    /// Most restarts of an attempt because libcurl lacks the addresses of the name. If libcurl lacks them although they were given, it must
    /// be looking for another name than ours.
    private static let missCountMax = 3

    func prepareRestart() {
        // If only the name was missing, the attempt may use a connection that has become idle since. In all other cases it could get the
        // connection that died, so it gets a new one.
        if !abortCause.isNameMissing || sending.count > 0 { easyOptions.setFreshConnect(true) }
        // `connect` begins again for each sending, as in libcurl.
        if sending.count > 0 { resolving.beganAt = loop.now }
        abortCause = nil
        sending.connectionCount = 0
        sending.isPaused = false
        errorText.pointee = 0
    }

    /// Lets the attempt go, after its last event has been made.
    func end() -> UpstreamAttempt? {
        sending.reader?.close()
        sending.reader = nil
        pendingBody = ByteBuffer()
        defer { attempt = nil }
        attempt?.workerState = nil
        return attempt
    }

    /// Whether the handle may carry another attempt, where libcurl has ended this one by itself: only after a good
    /// end. What a handle keeps of a transfer that broke off is documented nowhere, and a new one costs little.
    ///
    /// libcurl counts its silent resends in the handle for ever (7.88.1: `state.retrycount`) and refuses the
    /// sixth.
    func isReusable(after code: CURLcode) -> Bool { code == CURLE_OK && abortCause == nil && sending.count <= 1 }

    var isDial: Bool {
        switch attempt?.request.purpose {
        case .dial, .upgrade: true
        case .transfer, nil: false
        }
    }
}

// MARK: The end

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
        if !isSent, !sending.isStopped, !easyOptions.isHeadWithBody, !receiving.isError { return false }
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
        progress.isSecure = easyOptions.isSecure
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
