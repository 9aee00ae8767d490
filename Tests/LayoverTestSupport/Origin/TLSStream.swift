import COpenSSL
import Glibc

/// TLS settings of a server or a client of a test.
///
/// `@unchecked Sendable`: OpenSSL counts the users of an `SSL_CTX` and locks it; nothing is changed after `init`.
package final class TLSSettings: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer
    fileprivate let isServer: Bool

    /// A server with a certificate.
    package init(certificate: String, key: String) throws {
        guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw ProcessError("no SSL_CTX") }
        (self.pointer, isServer) = (pointer, true)
        guard SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1,
            SSL_CTX_use_PrivateKey_file(pointer, key, X509_FILETYPE_PEM) == 1
        else { throw ProcessError("\(certificate) cannot be used") }
    }

    /// A client that trusts one authority. It does not compare names.
    package init(trusting authority: String) throws {
        guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw ProcessError("no SSL_CTX") }
        (self.pointer, isServer) = (pointer, false)
        guard SSL_CTX_load_verify_file(pointer, authority) == 1 else { throw ProcessError("\(authority) cannot be used") }
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    }

    deinit { SSL_CTX_free(pointer) }
}

/// TLS on a connected socket that belongs to the caller. Its calls block.
///
/// `@unchecked Sendable`: one thread uses it, that of the script.
package final class TLSStream: @unchecked Sendable {
    /// Result of a read.
    package enum Piece {
        case bytes([UInt8])
        /// The peer sent close_notify (RFC 8446 section 6.1).
        case closeNotify
        /// The connection ended without close_notify.
        case cutOff
        case reset
        /// The time limit of the socket passed, or TLS failed.
        case nothing
    }

    private let tls: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let descriptor: CInt
    private let isServer: Bool

    /// - Parameter serverName: The name that a client asks for.
    package init(_ settings: TLSSettings, on descriptor: CInt, serverName: String? = nil) throws {
        guard let tls = SSL_new(settings.pointer), let incoming = layover_bio_in_memory(), let outgoing = layover_bio_in_memory() else {
            throw ProcessError("no SSL")
        }
        SSL_set_bio(tls, incoming, outgoing)
        (self.tls, self.incoming, self.outgoing, self.descriptor, isServer) = (tls, incoming, outgoing, descriptor, settings.isServer)
        if let serverName { _ = layover_tls_set_server_name(tls, serverName) }
        if isServer { SSL_set_accept_state(tls) } else { SSL_set_connect_state(tls) }
    }

    deinit { SSL_free(tls) }

    /// - Returns: True if the handshake succeeded.
    package func handshake() -> Bool {
        while true {
            ERR_clear_error()
            let result = SSL_do_handshake(tls)
            let isSent = flush()
            if result == 1 { return isSent }
            guard SSL_get_error(tls, result) == SSL_ERROR_WANT_READ, isSent, case .bytes = receive() else { return false }
        }
    }

    /// - Returns: True if the socket took all bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            ERR_clear_error()
            // One record at a time, so that what is written is sent.
            let record = UnsafeRawBufferPointer(rebasing: rest.prefix(16 << 10))
            guard SSL_write(tls, record.baseAddress, CInt(record.count)) == CInt(record.count), flush() else { return false }
            rest = rest.dropFirst(record.count)
        }
        return true
    }

    package func read() -> Piece {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            ERR_clear_error()
            let count = SSL_read(tls, &buffer, CInt(buffer.count))
            if count > 0 { return .bytes(Array(buffer[..<Int(count)])) }
            switch SSL_get_error(tls, count) {
            case SSL_ERROR_ZERO_RETURN: return .closeNotify
            case SSL_ERROR_WANT_READ:
                // Such as the answer to a KeyUpdate.
                _ = flush()
                let piece = receive()
                guard case .bytes = piece else { return piece }
            default: return .nothing
            }
        }
    }

    package func sendCloseNotify() {
        ERR_clear_error()
        SSL_shutdown(tls)
        _ = flush()
    }

    /// Takes encrypted bytes from the socket.
    private func receive() -> Piece {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count == 0 { return .cutOff }
            if count < 0 { return errno == ECONNRESET ? .reset : .nothing }
            return BIO_write(incoming, buffer, CInt(count)) == CInt(count) ? .bytes([]) : .nothing
        }
    }

    /// Sends what OpenSSL has written.
    private func flush() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 32 << 10)
        while layover_bio_byte_count(outgoing) > 0 {
            let count = Int(BIO_read(outgoing, &buffer, CInt(buffer.count)))
            var done = 0
            while done < count {
                let sent = buffer.withUnsafeBytes { send(descriptor, $0.baseAddress.map { $0 + done }, count - done, CInt(MSG_NOSIGNAL)) }
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { return false }
                done += sent
            }
        }
        return true
    }
}
