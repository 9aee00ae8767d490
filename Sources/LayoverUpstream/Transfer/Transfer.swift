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

    // Options as they were set last.
    var setOptions = SetOptions()
    var fieldList = FieldList()
    /// The fields of CONNECT to a parent proxy. Nil until such a request comes.
    var connectFieldList: FieldList?
    var resolveEntry = ResolveEntry()
    /// What the host of the endpoint is; belongs to `setOptions.endpoint`.
    var hostName = HostName.impossible
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
        headAssembler = ResponseHeadAssembler(limits: loop.options.responseLimits)
        // libcurl finds the end of the body.
        headAssembler.isFramedByOther = true
        trailerAssembler = ResponseTrailerAssembler(limits: loop.options.responseLimits)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setConstantOptions()
    }

    deinit {
        curl_easy_cleanup(easy)
        fieldList.deallocate()
        connectFieldList?.deallocate()
        resolveEntry.deallocate()
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
        setOptions(for: attempt)
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
        if !abortCause.isNameMissing || sending.count > 0 { setFreshConnect(true) }
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
