import CCurl
import Glibc

/// One multi handle: its connections, its name cache, its timer.
///
/// After a network change a worker makes a new one for new attempts; an old one goes when its last
/// attempt has ended, and its idle connections with it. Confined to the worker's thread.
final class MultiGeneration {
    let handle: UnsafeMutableRawPointer
    private let poller: Poller
    /// When libcurl wants to be called for its timers, on `MonotonicClock`. Only stored by the callback:
    /// libcurl must not be called from within it.
    private(set) var timerAt: UInt64?
    /// Transfers that are added to the handle.
    var transferCount = 0

    init?(poller: Poller, options: UpstreamOptions) {
        guard let handle = curl_multi_init() else { return nil }
        self.handle = handle
        self.poller = poller
        let context = Unmanaged.passUnretained(self).toOpaque()
        layover_multi_set_socket(handle, Self.socketChanged)
        layover_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
        layover_multi_set_timer(handle, Self.timerChanged)
        layover_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
        layover_multi_set_long(handle, CURLMOPT_MAXCONNECTS, options.idleConnectionCountMax)
        layover_multi_set_long(handle, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    }

    /// Closes the idle connections; the last call. No transfer may be left.
    func cleanUp() { curl_multi_cleanup(handle) }

    /// Acts on what happened at a descriptor.
    func act(on socket: CInt, events: UInt32) {
        var mask: CInt = 0
        if events & Poller.readable != 0 { mask |= CInt(CURL_CSELECT_IN) }
        if events & Poller.writable != 0 { mask |= CInt(CURL_CSELECT_OUT) }
        var running: CInt = 0
        curl_multi_socket_action(handle, socket, mask, &running)
    }

    /// Lets libcurl work when its timer is due.
    func actIfDue(at now: UInt64) {
        guard let due = timerAt, due <= now else { return }
        actAtOnce()
    }

    /// Lets libcurl do what its timers ask for.
    func actAtOnce() {
        timerAt = nil
        var running: CInt = 0
        curl_multi_socket_action(handle, CURL_SOCKET_BAD, 0, &running)
    }

    /// The next transfer that has ended, and how.
    func nextResult() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: CInt = 0
        while let message = curl_multi_info_read(handle, &left) {
            if message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle {
                return (easy, message.pointee.data.result)
            }
        }
        return nil
    }

    private static let socketChanged: curl_socket_callback = { _, socket, what, context, _ in
        guard let context else { return 0 }
        let generation = Unmanaged<MultiGeneration>.fromOpaque(context).takeUnretainedValue()
        let wanted: UInt32 =
            switch what {
            case CURL_POLL_IN: Poller.readable
            case CURL_POLL_OUT: Poller.writable
            case CURL_POLL_INOUT: Poller.readable | Poller.writable
            default: 0
            }
        generation.poller.watch(socket, for: wanted, in: generation)
        return 0
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let generation = Unmanaged<MultiGeneration>.fromOpaque(context).takeUnretainedValue()
        // At once is 0, which is due whenever this turn began.
        generation.timerAt =
            switch milliseconds {
            case ..<0: nil
            case 0: 0
            default: MonotonicClock.now + UInt64(milliseconds) * 1_000_000
            }
        return 0
    }
}

/// Makes libcurl close connections that nobody uses and nobody could use any more.
///
/// libcurl looks at its idle connections only when a transfer looks for a connection (`CURLOPT_MAXAGE_CONN`): without
/// further requests they would stay for ever, and half closed once the origin has gone. There is no call that only
/// looks (`curl_easy_upkeep` closes nothing), so this is a transfer that ends where the connection would be made. It
/// opens no socket and resolves nothing.
///
/// Confined to the worker's thread.
final class IdleSweeper {
    /// Time between an event and the sweep that it asks for: libcurl looks once a second at most.
    static let delay = Duration.milliseconds(1100).nanoseconds

    private let easy: UnsafeMutableRawPointer
    /// Time between two looks at the age of idle connections.
    let interval: UInt64

    /// - Parameter ageMax: Idle connections that are older are closed.
    init?(ageMax: Duration) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        // Often enough that none gets much older, and seldom enough not to keep a sleeping machine busy.
        interval = max(Self.delay, min(ageMax, .seconds(5)).nanoseconds)
        layover_set_long(easy, CURLOPT_NOSIGNAL, 1)
        layover_set_string(easy, CURLOPT_PROXY, "")
        layover_set_string(easy, CURLOPT_NOPROXY, "*")
        layover_set_string(easy, CURLOPT_PROTOCOLS_STR, "http")
        layover_set_string(easy, CURLOPT_URL, "http://sweep.invalid/")
        layover_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        layover_set_long(easy, CURLOPT_MAXAGE_CONN, max(1, ageMax.millisecondsAtLeastOne / 1000))
        layover_set_resolver_start(easy) { _, _, _ in 1 }
        layover_set_open_socket(easy) { _, _, _ in CURL_SOCKET_BAD }
    }

    deinit { curl_easy_cleanup(easy) }

    /// Closes what is dead or too old among the idle connections of a multi handle. Not to be called from within a
    /// callback of libcurl.
    func sweep(_ generation: MultiGeneration) {
        guard curl_multi_add_handle(generation.handle, easy) == CURLM_OK else { return }
        generation.actAtOnce()
        // The handle's result, if there is one, is removed with it.
        curl_multi_remove_handle(generation.handle, easy)
    }
}
