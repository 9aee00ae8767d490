import COpenSSL

/// Random bytes that nobody can guess, of OpenSSL's generator, which the kernel seeds (RAND_bytes(3)).
package enum RandomBytes {
    package static func make(count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try CryptoError.check(RAND_bytes(&bytes, try CryptoError.length(count)), operation)
        return bytes
    }

    private static let operation: StaticString = "make random bytes"

    static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard !buffer.isEmpty else { return }
        let start = buffer.assumingMemoryBound(to: UInt8.self).baseAddress
        try CryptoError.check(RAND_bytes(start, try CryptoError.length(buffer.count)), operation)
    }
}
