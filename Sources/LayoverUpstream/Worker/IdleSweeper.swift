import CCurl

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
