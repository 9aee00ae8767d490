import CCurl
import Glibc

/// The functions that libcurl calls. Each finds its transfer by the context and passes the facts on. None captures anything or throws.
enum CurlCallbacks {
    static func set(for transfer: Transfer) {
        let (easy, loop, context) = (transfer.easy, transfer.loop, Unmanaged.passUnretained(transfer).toOpaque())
        layover_set_pointer(easy, CURLOPT_PRIVATE, context)
        layover_set_write(easy, CURLOPT_HEADERFUNCTION, headerLineCame)
        layover_set_pointer(easy, CURLOPT_HEADERDATA, context)
        layover_set_write(easy, CURLOPT_WRITEFUNCTION, bodyCame)
        layover_set_pointer(easy, CURLOPT_WRITEDATA, context)
        layover_set_read(easy, bodyWanted)
        layover_set_pointer(easy, CURLOPT_READDATA, context)
        layover_set_pointer(easy, CURLOPT_SEEKDATA, context)
        layover_set_resolver_start(easy, nameWanted)
        layover_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, context)
        layover_set_open_socket(easy, socketWanted)
        layover_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
        // A connection outlives the transfer that made it: this context is the loop.
        layover_set_close_socket(easy, socketDropped)
        layover_set_pointer(
            easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(loop).toOpaque())
        layover_set_prereq(easy, connectionStands)
        layover_set_pointer(easy, CURLOPT_PREREQDATA, context)
        if loop.options.prepareTLS != nil {
            layover_set_ssl_context(easy, tlsBegins)
            layover_set_pointer(easy, CURLOPT_SSL_CTX_DATA, context)
        }
        layover_set_debug(easy, remarkCame)
        layover_set_pointer(easy, CURLOPT_DEBUGDATA, context)
    }

    /// Whether libcurl may send the body of the request once more.
    static func setRewind(_ isAllowed: Bool, on easy: UnsafeMutableRawPointer) {
        layover_set_seek(easy, isAllowed ? rewindWanted : nil)
    }

    private static func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    private static let headerLineCame: curl_write_callback = { bytes, size, count, context in
        guard let context, let bytes else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer(context).receivedHeaderLine(line) ? line.count : 0
    }

    private static let bodyCame: curl_write_callback = { bytes, size, count, context in
        guard let context, let bytes else { return 0 }
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer(context).receivedBody(piece)
    }

    private static let bodyWanted: curl_read_callback = { buffer, size, count, context in
        guard let context, let buffer else { return Int(CURL_READFUNC_ABORT) }
        return transfer(context).readBody(
            into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }

    /// Set only for requests that may be sent twice. `sendingBegins` opens the body anew.
    private static let rewindWanted: curl_seek_callback = { _, offset, origin in
        offset == 0 && origin == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }

    private static let nameWanted: curl_resolver_start_callback = { _, _, context in
        guard let context else { return 1 }
        return transfer(context).mayResolve() ? 0 : 1
    }

    private static let socketWanted: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return CURL_SOCKET_BAD }
        return transfer(context).openSocket(to: address)
    }

    private static let socketDropped: curl_closesocket_callback = { context, descriptor in
        guard let context else { return 1 }
        let loop = Unmanaged<WorkerLoop>.fromOpaque(context).takeUnretainedValue()
        loop.poller.drop(descriptor, at: loop.now)
        return 0
    }

    private static let connectionStands: curl_prereq_callback = {
        context, remoteAddress, localAddress, remotePort, localPort in
        guard let context, let remoteAddress, let localAddress else { return CURL_PREREQFUNC_ABORT }
        let key = ConnectionKey(
            remoteAddress: remoteAddress, remotePort: remotePort, localAddress: localAddress,
            localPort: localPort)
        let remote = Transfer.RemoteEnd(address: remoteAddress, port: remotePort)
        return transfer(context).sendingBegins(on: key, localPort: localPort, remote: remote)
            ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    private static let tlsBegins: curl_ssl_ctx_callback = { _, tls, context in
        guard let tls, let context else { return CURLE_ABORTED_BY_CALLBACK }
        transfer(context).loop.options.prepareTLS?(OpaquePointer(tls))
        return CURLE_OK
    }

    private static let remarkCame: curl_debug_callback = { _, kind, text, count, context in
        guard let context, let text else { return 0 }
        let bytes = UnsafeRawBufferPointer(start: text, count: count)
        switch kind {
        case CURLINFO_TEXT: transfer(context).receivedRemark(bytes)
        case CURLINFO_DATA_IN: transfer(context).receivedRawBody(bytes)
        case CURLINFO_DATA_OUT: transfer(context).sentPiece()
        case CURLINFO_HEADER_OUT: transfer(context).sentHead(bytes)
        default: break
        }
        return 0
    }
}
