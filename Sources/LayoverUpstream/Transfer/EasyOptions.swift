import CCurl
import LayoverCore
import LayoverEngine
import LayoverHTTP

/// The options that an easy handle has now, and the memory that libcurl reads some of them from. Setting one costs a call and often a
/// copy, and attempts that follow each other on a handle are mostly alike.
struct EasyOptions {
    /// The properties of a request that decide libcurl's options UPLOAD, NOBODY and CUSTOMREQUEST.
    private struct Shape: Equatable {
        var method: String
        var hasBody: Bool
    }

    private let easy: UnsafeMutableRawPointer
    private var fieldList = FieldList()
    /// The fields of CONNECT to a parent proxy. Nil until such a request comes.
    private var connectFieldList: FieldList?
    private var resolveEntry = ResolveEntry()

    /// The first receiver of the request: the origin, or the parent proxy that forwards it. `isSecure`: TLS is made with it.
    private var peer: Origin?
    private(set) var isSecure = false
    /// The origin or parent proxy whose name is resolved for the connection.
    private var endpoint: Origin?
    /// The host of the endpoint, as an address or a name.
    private(set) var hostName = HostName.impossible
    /// The parent proxy that opens a tunnel to the origin. A parent proxy that forwards the request is the `peer`.
    private var tunnelProxy: ParentProxy?
    /// Whether CONNECT to the parent proxy carries fields of the request.
    private var hasConnectFields = false
    private var isDial = false
    private var shape: Shape?
    private var target = ""
    private var isFresh = false
    private var hasResolveEntry = false
    private var forbidsReuse = false
    private var ignoresLength = false
    private var connectMilliseconds = 0
    private var maySeek = false
    private var isVerbose = false
    private(set) var supportsHTTP2 = false

    init(of easy: UnsafeMutableRawPointer) { self.easy = easy }

    func deallocate() {
        fieldList.deallocate()
        connectFieldList?.deallocate()
        resolveEntry.deallocate()
    }

    /// Whether libcurl would certainly make a new connection, so that it needs the addresses first.
    var needsConnection: Bool { isDial || isFresh }

    /// Whether the request is a HEAD with a body.
    var isHeadWithBody: Bool { shape?.hasBody == true && shape?.method == "HEAD" }

    // MARK: Once for each handle

    func setConstants(of loop: WorkerLoop) {
        setConnectionConstants(of: loop)
        setMessageConstants()
    }

    private func setConnectionConstants(of loop: WorkerLoop) {
        let options = loop.options
        // Otherwise `http_proxy` in our own environment would make the proxy call itself.
        layover_set_string(easy, CURLOPT_PROXY, "")
        layover_set_string(easy, CURLOPT_NOPROXY, "*")
        layover_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Without it, removing a handle waits for its resolver thread: seconds, with a silent server.
        layover_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        layover_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        layover_set_long(easy, CURLOPT_BUFFERSIZE, options.receiveBufferByteCount)
        layover_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, options.sendBufferByteCount)
        // Longer than `nameAgeMax`, so that libcurl still has every answer that counts as given (`WorkerNames`). The old entry is replaced
        // before an attempt uses a new answer. It is removed before an attempt has none.
        layover_set_long(
            easy, CURLOPT_DNS_CACHE_TIMEOUT, options.nameAgeMax.millisecondsAtLeastOne / 1000 + 5)
        layover_set_long(easy, CURLOPT_DNS_SHUFFLE_ADDRESSES, 0)
        layover_set_long(
            easy, CURLOPT_MAXAGE_CONN, max(1, options.idleConnectionAgeMax.millisecondsAtLeastOne / 1000))
        layover_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        layover_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
        layover_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
        layover_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        layover_set_long(easy, CURLOPT_PROXYAUTH, Int(layover_auth_basic))
        if let path = loop.trust.path {
            layover_set_string(easy, CURLOPT_PROXY_CAINFO, path)
            layover_set_string(easy, CURLOPT_PROXY_CAPATH, nil)
            layover_set_string(easy, CURLOPT_CAINFO, path)
            // With a folder besides the file libcurl would not cache the parsed certificates.
            layover_set_string(easy, CURLOPT_CAPATH, nil)
        }
        layover_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, 24 * 60 * 60)
        layover_set_pointer(easy, CURLOPT_SHARE, loop.share)
    }

    private func setMessageConstants() {
        layover_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        layover_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // No response of HTTP/0.9 is passed on (`receivedBody`), but its bytes tell what the origin speaks.
        layover_set_long(easy, CURLOPT_HTTP09_ALLOWED, 1)
        layover_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        layover_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        layover_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Content codings pass untouched; transfer codings are of this connection and are decoded.
        layover_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        // An error response alone does not end the sending (RFC 9112 section 9.5). `Transfer.answeredEarly` knows when it ends.
        layover_set_long(easy, CURLOPT_KEEP_SENDING_ON_ERROR, 1)
        layover_set_long(easy, CURLOPT_HTTP_TRANSFER_DECODING, 1)
        layover_set_long(easy, CURLOPT_NOPROGRESS, 1)
    }

    // MARK: For each attempt

    mutating func set(for attempt: UpstreamAttempt) {
        let request = attempt.request
        let isDial = request.purpose != .transfer
        setPeer(request, isDial: isDial)
        setTunnelProxy(request)
        setConnectFields(request)
        setShape(request)
        let target = request.wireTarget
        if self.target != target {
            self.target = target
            layover_set_string(easy, CURLOPT_REQUEST_TARGET, target)
        }
        layover_set_list(
            easy, CURLOPT_HTTPHEADER,
            fieldList.fill(
                host: request.host, fields: Self.fieldsForPeer(of: request), framing: request.framing,
                expectsContinue: request.expectsContinue, framesChunks: !request.supportsHTTP2))
        setHTTP2(request.supportsHTTP2)
        // libcurl sends a request again by itself if a reused connection dies before the first byte of the response. So a request that must
        // not be sent twice always gets a new connection. The connection is closed afterwards: idle connections of many such requests would
        // pile up at the origin, because no such request ever uses one.
        let isAlone = !request.mayBeSentTwice || !isDial && Self.tunnelsWithCredentials(request)
        setFreshConnect(attempt.needsFreshConnection || isAlone)
        setForbidReuse(isAlone)
        setIgnoresLength(false)
        // libcurl reports some facts only in its verbose output: a refused stream, a CONNECT that was sent to a parent proxy with TLS, and
        // a failed send while the connection is still open.
        setVerbose(
            request.framing != .none || request.supportsHTTP2 || request.parentProxyUse == .tunnel && request.parentProxy?.isSecure == true)
        setConnectTimeout(request.timeouts.connect.millisecondsAtLeastOne)
        if self.isDial != isDial {
            self.isDial = isDial
            layover_set_long(easy, CURLOPT_CONNECT_ONLY, isDial ? 1 : 0)
        }
    }

    private mutating func setHTTP2(_ isSupported: Bool) {
        guard supportsHTTP2 != isSupported else { return }
        supportsHTTP2 = isSupported
        layover_set_long(easy, CURLOPT_HTTP_VERSION, Int(isSupported ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    }

    mutating func setFreshConnect(_ isFresh: Bool) {
        guard self.isFresh != isFresh else { return }
        self.isFresh = isFresh
        layover_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
    }

    mutating func setConnectTimeout(_ milliseconds: Int) {
        guard connectMilliseconds != milliseconds else { return }
        connectMilliseconds = milliseconds
        layover_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
    }

    /// Makes sure that the connection is closed after this response. May be called in a callback: libcurl
    /// looks at the option when the transfer is done.
    mutating func setForbidReuse(_ forbids: Bool) {
        guard forbidsReuse != forbids else { return }
        forbidsReuse = forbids
        layover_set_long(easy, CURLOPT_FORBID_REUSE, forbids ? 1 : 0)
    }

    /// Lets libcurl read to the end of the stream, whatever the response says about its length. May be called in a callback.
    mutating func setIgnoresLength(_ ignores: Bool) {
        guard ignoresLength != ignores else { return }
        ignoresLength = ignores
        layover_set_long(easy, CURLOPT_IGNORE_CONTENT_LENGTH, ignores ? 1 : 0)
    }

    /// Lets libcurl tell what it does; only where nothing else says it.
    mutating func setVerbose(_ isVerbose: Bool) {
        guard self.isVerbose != isVerbose else { return }
        self.isVerbose = isVerbose
        layover_set_long(easy, CURLOPT_VERBOSE, isVerbose ? 1 : 0)
    }

    private mutating func setPeer(_ request: UpstreamRequest, isDial: Bool) {
        let endpoint = request.endpoint
        if self.endpoint?.host != endpoint.host { hostName = HostName(endpoint.host) }
        if self.endpoint != endpoint { self.endpoint = endpoint }
        let peer = request.peer
        // A dial makes no TLS: what runs inside a tunnel is the client's.
        let isSecure = request.isPeerSecure && !isDial
        guard self.peer != peer || self.isSecure != isSecure else { return }
        (self.peer, self.isSecure) = (peer, isSecure)
        layover_set_string(easy, CURLOPT_URL, "\(isSecure ? "https" : "http")://\(peer.authority)/")
    }

    /// The parent proxy through which libcurl is to open the way to the origin.
    private mutating func setTunnelProxy(_ request: UpstreamRequest) {
        let proxy = request.parentProxyUse == .tunnel ? request.parentProxy : nil
        guard tunnelProxy != proxy else { return }
        tunnelProxy = proxy
        layover_set_string(easy, CURLOPT_PROXY, proxy.map { "\($0.scheme.rawValue)://\($0.gate.authority)" } ?? "")
        // Otherwise the variable `no_proxy` of our own environment would count.
        layover_set_string(easy, CURLOPT_NOPROXY, proxy == nil ? "*" : "")
        layover_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, proxy?.speaksHTTP == true ? 1 : 0)
        let hasCredentials = proxy?.hasCredentials == true
        layover_set_string(easy, CURLOPT_PROXYUSERNAME, hasCredentials ? proxy?.user : nil)
        layover_set_string(easy, CURLOPT_PROXYPASSWORD, hasCredentials ? proxy?.password.revealed : nil)
    }

    /// CONNECT carries the Via field of the request that it is for, so that proxies that name each other notice the loop.
    ///
    /// libcurl keeps the pointer to the list, which changes with each request.
    private mutating func setConnectFields(_ request: UpstreamRequest) {
        guard request.parentProxyUse == .tunnel, request.parentProxy?.speaksHTTP == true else {
            guard hasConnectFields else { return }
            hasConnectFields = false
            layover_set_list(easy, CURLOPT_PROXYHEADER, nil)
            return
        }
        hasConnectFields = true
        var list = connectFieldList ?? FieldList()
        layover_set_list(easy, CURLOPT_PROXYHEADER, list.fillVia(of: request.fields))
        connectFieldList = list
    }

    private mutating func setShape(_ request: UpstreamRequest) {
        let shape = Shape(method: request.method, hasBody: request.framing != .none)
        if self.shape != shape {
            self.shape = shape
            // Takes back UPLOAD and NOBODY of the attempt before.
            layover_set_long(easy, CURLOPT_HTTPGET, 1)
            if shape.hasBody { layover_set_long(easy, CURLOPT_UPLOAD, 1) }
            // NOBODY would take the request's body away. Then `handOver` ends the transfer at the head.
            if shape.method == "HEAD", !shape.hasBody { layover_set_long(easy, CURLOPT_NOBODY, 1) }
            layover_set_string(easy, CURLOPT_CUSTOMREQUEST, shape.method)
        }
        if case .length(let count) = request.framing {
            layover_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(count))
        } else if case .chunked = request.framing {
            // Unknown: the body ends where `readBody` says so. `FieldList` keeps libcurl from framing it.
            layover_set_offset(easy, CURLOPT_INFILESIZE_LARGE, -1)
        }
        if maySeek != request.mayBeSentTwice {
            maySeek = request.mayBeSentTwice
            CurlCallbacks.setRewind(maySeek, on: easy)
        }
    }

    // MARK: The addresses

    /// Sets the entry by which libcurl gets the addresses of the endpoint's name; nil: libcurl gets no entry.
    mutating func setResolveEntry(_ content: ResolveEntry.Content?) {
        guard content != nil || hasResolveEntry else { return }
        hasResolveEntry = content != nil
        guard let content, let endpoint else {
            layover_set_list(easy, CURLOPT_RESOLVE, nil)
            return
        }
        layover_set_list(easy, CURLOPT_RESOLVE, resolveEntry.fill(content, for: endpoint))
    }

    // MARK: Facts of a request

    /// The fields for the first receiver of the request. A parent proxy that forwards the request also gets `Proxy-Authorization`.
    private static func fieldsForPeer(of request: UpstreamRequest) -> RequestFields {
        guard let authorization = request.parentProxyAuthorization else { return request.fields }
        var all = request.fields
        all.append("Proxy-Authorization", authorization)
        return all
    }

    /// True if the parent proxy opens the tunnel for credentials. libcurl 7.88.1 does not compare credentials before it uses a connection
    /// again.
    static func tunnelsWithCredentials(_ request: UpstreamRequest) -> Bool {
        request.parentProxyUse == .tunnel && request.parentProxy?.hasCredentials == true
    }
}
