import COpenSSL

/// Why an operation has no result. The text holds no key and no data.
package struct CryptoError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// OpenSSL refused or failed: no memory, or an installation without the algorithm.
        case libraryFailed
        /// The key is another one, or the bytes were changed.
        case notAuthentic
        /// An argument has a length that the algorithm does not take.
        case wrongLength
    }

    package let code: Code
    /// A complete sentence.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The error of the last call of OpenSSL on this thread.
    static func ofLibrary(_ operation: StaticString) -> CryptoError {
        let number = ERR_peek_last_error()
        forgetErrors()
        guard number != 0 else { return CryptoError(.libraryFailed, "OpenSSL could not \(operation).") }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(number, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return CryptoError(.libraryFailed, "OpenSSL could not \(operation): \(String(decoding: bytes, as: UTF8.self)).")
    }

    /// Empties the thread's list of errors: a TLS connection on the same thread would take one that is left for its own
    /// (SSL_get_error(3)).
    static func forgetErrors() { ERR_clear_error() }

    /// - Parameter status: What a function of OpenSSL returned that returns 1 when it succeeds.
    static func check(_ status: CInt, _ operation: StaticString) throws(CryptoError) {
        guard status == 1 else { throw ofLibrary(operation) }
    }

    /// OpenSSL counts the bytes of ciphers with `int`.
    static func length(_ count: Int) throws(CryptoError) -> CInt {
        guard let length = CInt(exactly: count) else {
            throw CryptoError(.wrongLength, "\(count) bytes are too many for one call.")
        }
        return length
    }
}
