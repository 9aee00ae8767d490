import COpenSSL
package import NIOCore

/// One TLS connection to a server, without a socket: bytes of the network go in and come out, and so do those of the application.
///
/// Nothing is buffered but what one call brings: the caller takes `outgoing` after each call, and hands in as much as it wants to have
/// decrypted. Confined to one thread.
package final class TLSClientSession {
    private let context: TLSClientContext
    private let cache: TLSSessionCache
    private let server: String
    private let tls: OpaquePointer
    /// Bytes of the network for us; OpenSSL frees both with `tls`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// Whether the handshake is complete and the server's certificate was accepted.
    package private(set) var isEstablished = false
    /// Whether the server has said that it sends no more (close_notify), so that an end is no truncation.
    package private(set) var isEnded = false

    /// - Parameters:
    ///   - host: Name or address that the certificate must be for.
    ///   - isAddress: Whether it is an IP address, which is never sent as a server name (RFC 6066 section 3).
    package init(_ context: TLSClientContext, host: String, port: Int, isAddress: Bool, cache: TLSSessionCache) throws(TLSError) {
        // A trailing dot marks a name as complete; certificates do not have it.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard let tls = SSL_new(context.pointer) else { throw .noted(.unusable) }
        guard let incoming = layover_bio_in_memory(), let outgoing = layover_bio_in_memory() else {
            SSL_free(tls)
            throw .noted(.unusable)
        }
        SSL_set_bio(tls, incoming, outgoing)
        (self.context, self.cache, self.tls, self.incoming, self.outgoing) = (context, cache, tls, incoming, outgoing)
        server = "\(name):\(port)"
        SSL_set_connect_state(tls)
        let isPrepared: Bool
        if isAddress {
            isPrepared = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name) == 1
        } else {
            isPrepared = layover_tls_set_server_name(tls, name) == 1 && SSL_set1_host(tls, name) == 1
        }
        guard isPrepared, SSL_set_alpn_protos(tls, Self.protocols, UInt32(Self.protocols.count)) == 0 else { throw .noted(.unusable) }
        SSL_set_ex_data(tls, 0, Unmanaged.passUnretained(self).toOpaque())
        if let session = cache.take(for: server) {
            SSL_set_session(tls, session)
            SSL_SESSION_free(session)
        }
    }

    deinit { SSL_free(tls) }

    /// `http/1.1` with its length before it (RFC 7301 section 3.1).
    private static let protocols: [UInt8] = [8] + Array("http/1.1".utf8)

    /// Called by OpenSSL from within our calls, on our thread. The session is ours when 1 is returned.
    static let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> CInt = { tls, session in
        guard let tls, let session, let context = SSL_get_ex_data(tls, 0) else { return 0 }
        let own = Unmanaged<TLSClientSession>.fromOpaque(context).takeUnretainedValue()
        own.cache.put(session, for: own.server)
        return 1
    }

    // MARK: Handshake

    /// Goes on with the handshake; the first call makes the first bytes.
    ///
    /// - Throws: `TLSError` with the exact reason. What is in `outgoing` then (an alert) is worth sending.
    package func handshake() throws(TLSError) {
        guard !isEstablished else { return }
        ERR_clear_error()
        let result = SSL_do_handshake(tls)
        if result == 1 {
            isEstablished = true
            return
        }
        try check(result)
    }

    /// Whether it resumed an earlier session.
    package var isResumed: Bool { SSL_session_reused(tls) == 1 }

    /// Throws unless OpenSSL only needs more bytes.
    private func check(_ result: CInt) throws(TLSError) {
        switch SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: isEnded = true
        default:
            let verdict = SSL_get_verify_result(tls)
            guard !isEstablished, verdict != Int(X509_V_OK), SSL_get_peer_cert_chain(tls) != nil else { throw .noted(.violation) }
            ERR_clear_error()
            throw TLSError(.certificate(verdict), X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "not accepted")
        }
    }

    // MARK: Bytes

    /// Takes bytes of the network.
    package func receive(_ bytes: ByteBuffer) throws(TLSError) {
        let count = bytes.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, CInt(clamping: $0.count)) }
        guard count == CInt(clamping: bytes.readableBytes) else { throw .noted(.unusable) }
    }

    /// The most bytes of one record (RFC 8446 section 5.1).
    private static let recordByteCountMax = 16 << 10

    /// Appends all that can be decrypted of what was received.
    package func read(into plaintext: inout ByteBuffer) throws(TLSError) {
        while !isEnded {
            ERR_clear_error()
            var result: CInt = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordByteCountMax) { memory in
                result = SSL_read(tls, memory.baseAddress, CInt(clamping: memory.count))
                return max(0, Int(result))
            }
            if result <= 0 { return try check(result) }
        }
    }

    /// Encrypts bytes of the application; they are in `outgoing` then. Once it is established.
    package func write(_ plaintext: ByteBuffer) throws(TLSError) {
        guard plaintext.readableBytes > 0 else { return }
        ERR_clear_error()
        let result = plaintext.withUnsafeReadableBytes { SSL_write(tls, $0.baseAddress, CInt(clamping: $0.count)) }
        guard result == CInt(clamping: plaintext.readableBytes) else { throw .noted(.violation) }
    }

    /// Says that nothing more is sent (close_notify); it is in `outgoing` then.
    package func end() {
        guard isEstablished else { return }
        ERR_clear_error()
        SSL_shutdown(tls)
        ERR_clear_error()
    }

    /// Whether bytes wait for the network.
    package var hasOutgoing: Bool { layover_bio_byte_count(outgoing) > 0 }

    /// Appends the bytes for the network.
    package func takeOutgoing(into bytes: inout ByteBuffer) {
        let count = layover_bio_byte_count(outgoing)
        guard count > 0 else { return }
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
            max(0, Int(BIO_read(outgoing, memory.baseAddress, CInt(clamping: min(count, memory.count)))))
        }
    }
}
