import COpenSSL
package import NIOCore

/// One TLS connection without a socket: bytes of the network go in and come out, and so do those of the application.
///
/// What clients and servers have in common. Nothing is buffered but what one call brings: the caller takes `outgoing` after each call,
/// and hands in as much as it wants to have decrypted. Confined to one thread.
package class TLSSession {
    let tls: OpaquePointer
    /// Bytes of the network for us; OpenSSL frees both with `tls`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// Whether the handshake is complete and the peer is accepted.
    package private(set) var isEstablished = false
    /// Whether the peer has said that it sends no more (close_notify), so that an end is no truncation.
    package private(set) var isEnded = false
    /// The last alert that we sent and that is no close_notify.
    private(set) var alertSent: Int?
    /// Whether our certificate was sent. A resumed handshake has none.
    private(set) var isCertificateSent = false
    /// Whether the server asked for a certificate of ours.
    private var isCertificateWanted = false
    /// Whether some byte of the application was decrypted.
    private var hasDecrypted = false

    /// - Parameter context: An SSL_CTX that `prepare` was called for.
    init(context: OpaquePointer) throws(TLSError) {
        guard let tls = SSL_new(context) else { throw .noted(.unusable) }
        guard let incoming = layover_bio_in_memory() else {
            SSL_free(tls)
            throw .noted(.unusable)
        }
        guard let outgoing = layover_bio_in_memory() else {
            BIO_free(incoming)
            SSL_free(tls)
            throw .noted(.unusable)
        }
        SSL_set_bio(tls, incoming, outgoing)
        (self.tls, self.incoming, self.outgoing) = (tls, incoming, outgoing)
        SSL_set_ex_data(tls, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { SSL_free(tls) }

    /// TLS 1.2 and newer, no renegotiation, no compression.
    static func prepare(_ context: OpaquePointer) throws(TLSError) {
        guard layover_tls_restrict(context) == 1 else { throw .noted(.unusable) }
        layover_tls_save_memory(context)
        SSL_CTX_set_info_callback(context, note)
        SSL_CTX_set_msg_callback(context, countKeyUpdate)
    }

    /// The session that a callback of OpenSSL is for. Callbacks come from within our calls, on our thread.
    static func of(_ tls: OpaquePointer?) -> TLSSession? {
        guard let tls, let session = SSL_get_ex_data(tls, 0) else { return nil }
        return Unmanaged<TLSSession>.fromOpaque(session).takeUnretainedValue()
    }

    /// What OpenSSL tells of a handshake: the next message, or an alert (SSL_CTX_set_info_callback(3)).
    private static let note: @convention(c) (OpaquePointer?, CInt, CInt) -> Void = { tls, event, value in
        if event & SSL_CB_LOOP != 0, SSL_get_state(tls) == TLS_ST_SW_CERT {
            TLSSession.of(tls)?.isCertificateSent = true
        } else if event & SSL_CB_LOOP != 0, SSL_get_state(tls) == TLS_ST_CR_CERT_REQ {
            TLSSession.of(tls)?.isCertificateWanted = true
        } else if event & SSL_CB_ALERT != 0, event & SSL_CB_WRITE != 0, value & 0xFF != SSL_AD_CLOSE_NOTIFY {
            TLSSession.of(tls)?.alertSent = Int(value & 0xFF)
        }
    }

    // MARK: Key updates

    /// Key updates (RFC 8446 section 4.6.3) that a peer may make without bytes of the application. TLS does not limit them, each costs as
    /// much as a full record, and a sound peer makes one for millions of records. Default: 64.
    private static let keyUpdateCountMax = 64
    private var keyUpdateCount = 0
    /// Bytes of the application, in both directions: so many as a record has allow one more key update.
    private var byteCount = 0

    /// Called by OpenSSL for each message and each record (SSL_CTX_set_msg_callback(3)).
    private static let countKeyUpdate:
        @convention(c) (CInt, CInt, CInt, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
            isWritten, _, type, bytes, count, tls, _ in
            guard isWritten == 0, type == SSL3_RT_HANDSHAKE, count > 0 else { return }
            if bytes?.load(as: UInt8.self) == UInt8(SSL3_MT_KEY_UPDATE) { TLSSession.of(tls)?.keyUpdateCount += 1 }
        }

    private func checkKeyUpdates() throws(TLSError) {
        guard keyUpdateCount > Self.keyUpdateCountMax + byteCount / Self.recordByteCountMax else { return }
        throw TLSError(.violation, "the peer updates its keys too often")
    }

    // MARK: Handshake

    /// Goes on with the handshake.
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

    /// Whether this session resumed an earlier one.
    package var isResumed: Bool { SSL_session_reused(tls) == 1 }

    /// The protocol that both agreed on (RFC 7301). Nil: they agreed on none.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(tls, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// Why the peer's certificate was not accepted. Nil: the certificate is not the reason.
    func certificateFailure() -> TLSError? { nil }

    /// Throws unless OpenSSL only needs more bytes, or the server's context.
    private func check(_ result: CInt) throws(TLSError) {
        switch SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_CLIENT_HELLO_CB: return
        case SSL_ERROR_ZERO_RETURN: isEnded = true
        default:
            var failure: TLSError
            if !isEstablished, let certificate = certificateFailure() {
                ERR_clear_error()
                failure = certificate
            } else {
                failure = .noted(.violation)
            }
            failure.alertSent = alertSent
            failure.isCertificateWanted = isCertificateWanted
            failure.isBeforeData = !isEstablished || SSL_version(tls) == TLS1_3_VERSION && isCertificateWanted && !hasDecrypted
            throw failure
        }
    }

    // MARK: Bytes

    /// The most bytes of one record (RFC 8446 section 5.1). OpenSSL's buffers get no more at a time where that can be chosen: they
    /// never shrink.
    static let recordByteCountMax = 16 << 10

    /// Takes bytes of the network.
    package func receive(_ bytes: ByteBuffer) throws(TLSError) {
        let count = bytes.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, CInt(clamping: $0.count)) }
        guard count == CInt(clamping: bytes.readableBytes) else { throw .noted(.unusable) }
    }

    /// Whether bytes of the network wait to be decrypted, maybe less than a record.
    var hasIncoming: Bool { layover_bio_byte_count(incoming) > 0 || SSL_has_pending(tls) == 1 }

    /// Appends all that can be decrypted of what was received.
    package func read(into plaintext: inout ByteBuffer) throws(TLSError) {
        while !isEnded {
            ERR_clear_error()
            var result: CInt = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordByteCountMax) { memory in
                result = SSL_read(tls, memory.baseAddress, CInt(clamping: memory.count))
                return max(0, Int(result))
            }
            try checkKeyUpdates()
            if result <= 0 { return try check(result) }
            hasDecrypted = true
            byteCount += Int(result)
        }
    }

    /// Takes all of `ciphertext` and appends what can be decrypted of it.
    func read(taking ciphertext: inout ByteBuffer, into plaintext: inout ByteBuffer) throws(TLSError) {
        // What came behind the last bytes of the handshake is in there already.
        if hasIncoming { try read(into: &plaintext) }
        while !isEnded, let piece = ciphertext.readSlice(length: min(ciphertext.readableBytes, Self.recordByteCountMax)) {
            guard piece.readableBytes > 0 else { return }
            try receive(piece)
            try read(into: &plaintext)
        }
    }

    /// Encrypts bytes of the application and appends what is for the network. Once it is established.
    package func write(_ plaintext: ByteBuffer, into ciphertext: inout ByteBuffer) throws(TLSError) {
        var rest = plaintext
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.recordByteCountMax)), piece.readableBytes > 0 {
            ERR_clear_error()
            let result = piece.withUnsafeReadableBytes { SSL_write(tls, $0.baseAddress, CInt(clamping: $0.count)) }
            guard result == CInt(clamping: piece.readableBytes) else { throw .noted(.violation) }
            byteCount += piece.readableBytes
            takeOutgoing(into: &ciphertext)
        }
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

/// User inbound event: the handshake is complete. It comes before the first byte of the application.
package struct TLSEstablished: Sendable, Hashable {
    /// The protocol that both agreed on by ALPN: `h2` or `http/1.1`. Nil: they agreed on none, so HTTP/1.1 is spoken.
    package var applicationProtocol: String?
    /// The name that the client asked for (SNI). Nil: the client asked for no name.
    package var serverName: String?
    /// Whether the handshake resumed an earlier session, so that no certificate was sent.
    package var isResumed: Bool
}

/// User inbound event: the peer has ended its sending side, in this way. `ChannelEvent.inputClosed` follows.
package enum TLSInputEnd: Sendable, Hashable {
    /// The peer sent close_notify: everything has arrived.
    case closeNotify
    /// The connection ended without close_notify. Whether a message is cut off must be known by its length (RFC 9112 section 9.8).
    case connection
}

/// User outbound event: what is sent ends without a close_notify from now on, because it is not complete. A channel without TLS
/// does not know it.
package struct TLSOutputCut: Sendable, Hashable {
    package init() {}
}
