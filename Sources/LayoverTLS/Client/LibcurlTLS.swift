import COpenSSL

/// The connections that libcurl makes.
package enum LibcurlTLS {
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
