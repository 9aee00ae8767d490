import CCurl
import LayoverCore
import LayoverEngine
import LayoverHTTP

extension Transfer {
    // MARK: Once for each handle

    func setConstantOptions() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        layover_set_pointer(easy, CURLOPT_PRIVATE, context)
        layover_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        setConstantCallbacks(context)
        setConstantConnectionOptions()
        setConstantMessageOptions()
    }

    private func setConstantConnectionOptions() {
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

    private func setConstantMessageOptions() {
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

    func setOptions(for attempt: UpstreamAttempt) {
        let request = attempt.request
        setPeer(request)
        setTunnelProxy(request)
        setConnectFields(request)
        setShape(request)
        let target = request.wireTarget
        if setOptions.target != target {
            setOptions.target = target
            layover_set_string(easy, CURLOPT_REQUEST_TARGET, target)
        }
        layover_set_list(
            easy, CURLOPT_HTTPHEADER,
            fieldList.fill(
                host: request.host, fields: request.fieldsForPeer, framing: request.framing,
                expectsContinue: request.expectsContinue, framesChunks: !request.offersHTTP2))
        setHTTP2(request.offersHTTP2)
        // libcurl sends a request again by itself if a reused connection dies before the first byte of the response. So a request that must
        // not be sent twice always gets a new connection. The connection is closed afterwards: idle connections of many such requests would
        // pile up at the origin, because no such request ever uses one.
        let isAlone = !request.mayBeSentTwice || !isDial && request.tunnelsWithCredentials
        setFreshConnect(attempt.needsFreshConnection || isAlone)
        setForbidReuse(isAlone)
        setIgnoresLength(false)
        // libcurl reports some facts only in its verbose output: a refused stream, a CONNECT that was sent to a parent proxy with TLS, and
        // a failed send while the connection is still open.
        setVerbose(
            request.framing != .none || request.offersHTTP2 || request.parentProxyUse == .tunnel && request.parentProxy?.isSecure == true)
        setConnectTimeout(request.timeouts.connect.millisecondsAtLeastOne)
        if setOptions.isDial != isDial {
            setOptions.isDial = isDial
            layover_set_long(easy, CURLOPT_CONNECT_ONLY, isDial ? 1 : 0)
        }
        headAssembler.reset(isHeadRequest: request.method == "HEAD")
        trailerAssembler.reset()
    }

    private func setHTTP2(_ isOffered: Bool) {
        guard setOptions.offersHTTP2 != isOffered else { return }
        setOptions.offersHTTP2 = isOffered
        layover_set_long(easy, CURLOPT_HTTP_VERSION, Int(isOffered ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    }

    func setFreshConnect(_ isFresh: Bool) {
        guard setOptions.isFresh != isFresh else { return }
        setOptions.isFresh = isFresh
        layover_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
    }

    func setConnectTimeout(_ milliseconds: Int) {
        guard setOptions.connectMilliseconds != milliseconds else { return }
        setOptions.connectMilliseconds = milliseconds
        layover_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
    }

    /// Makes sure that the connection is closed after this response. May be called in a callback: libcurl
    /// looks at the option when the transfer is done.
    func setForbidReuse(_ forbids: Bool) {
        guard setOptions.forbidsReuse != forbids else { return }
        setOptions.forbidsReuse = forbids
        layover_set_long(easy, CURLOPT_FORBID_REUSE, forbids ? 1 : 0)
    }

    /// Lets libcurl read to the end of the stream, whatever the response says about its length. May be called in a callback.
    func setIgnoresLength(_ ignores: Bool) {
        guard setOptions.ignoresLength != ignores else { return }
        setOptions.ignoresLength = ignores
        layover_set_long(easy, CURLOPT_IGNORE_CONTENT_LENGTH, ignores ? 1 : 0)
    }

    /// Lets libcurl tell what it does; only where nothing else says it.
    func setVerbose(_ isVerbose: Bool) {
        guard setOptions.isVerbose != isVerbose else { return }
        setOptions.isVerbose = isVerbose
        layover_set_long(easy, CURLOPT_VERBOSE, isVerbose ? 1 : 0)
    }

    private func setPeer(_ request: UpstreamRequest) {
        let endpoint = request.endpoint
        if setOptions.endpoint?.host != endpoint.host { hostName = HostName(endpoint.host) }
        if setOptions.endpoint != endpoint { setOptions.endpoint = endpoint }
        let peer = request.peer
        // A dial makes no TLS: what runs inside a tunnel is the client's.
        let isSecure = request.isPeerSecure && !isDial
        guard setOptions.peer != peer || setOptions.isSecure != isSecure else { return }
        (setOptions.peer, setOptions.isSecure) = (peer, isSecure)
        layover_set_string(easy, CURLOPT_URL, "\(isSecure ? "https" : "http")://\(peer.authority)/")
    }

    /// The parent proxy through which libcurl is to open the way to the origin.
    private func setTunnelProxy(_ request: UpstreamRequest) {
        let proxy = request.parentProxyUse == .tunnel ? request.parentProxy : nil
        guard setOptions.tunnelProxy != proxy else { return }
        setOptions.tunnelProxy = proxy
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
    private func setConnectFields(_ request: UpstreamRequest) {
        guard request.parentProxyUse == .tunnel, request.parentProxy?.speaksHTTP == true else {
            guard setOptions.hasConnectFields else { return }
            setOptions.hasConnectFields = false
            layover_set_list(easy, CURLOPT_PROXYHEADER, nil)
            return
        }
        setOptions.hasConnectFields = true
        var list = connectFieldList ?? FieldList()
        layover_set_list(easy, CURLOPT_PROXYHEADER, list.fillVia(of: request.fields))
        connectFieldList = list
    }

    private func setShape(_ request: UpstreamRequest) {
        let shape = SetOptions.Shape(method: request.method, hasBody: request.framing != .none)
        if setOptions.shape != shape {
            setOptions.shape = shape
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
        setSeek(request.mayBeSentTwice)
    }
}

extension UpstreamRequest {
    /// The fields for the first receiver of the request. A parent proxy that forwards the request also gets `Proxy-Authorization`.
    fileprivate var fieldsForPeer: RequestFields {
        guard let authorization = parentProxyAuthorization else { return fields }
        var all = fields
        all.append("Proxy-Authorization", authorization)
        return all
    }

    /// True if the parent proxy opens the tunnel for credentials. libcurl 7.88.1 does not compare credentials before it uses a connection
    /// again.
    fileprivate var tunnelsWithCredentials: Bool { parentProxyUse == .tunnel && parentProxy?.hasCredentials == true }
}
