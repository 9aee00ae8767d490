import COpenSSL

/// The connections that libcurl makes.
package enum LibcurlTLS {
    /// Whether the peer has said that it sends no more (SSL_get_shutdown(3)).
    package static func hasCloseNotify(_ tls: OpaquePointer) -> Bool { SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Takes what has been decrypted, or can be without waiting.
    ///
    /// - Parameter tls: An SSL of libcurl, on its thread, outside of OpenSSL's own calls.
    /// - Returns: How many bytes.
    package static func read(from tls: OpaquePointer, into memory: UnsafeMutableRawBufferPointer) -> Int {
        // libcurl looks at the queue of errors itself.
        ERR_clear_error()
        let count = SSL_read(tls, memory.baseAddress, CInt(clamping: memory.count))
        ERR_clear_error()
        return max(0, Int(count))
    }
}
