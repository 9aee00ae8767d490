import COpenSSL

/// A secret key. Its bytes lie in one place, which is overwritten when the last copy is gone, and no description shows them.
package struct SymmetricKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: Bytes

    package init(_ bytes: [UInt8]) {
        self.bytes = Bytes(count: bytes.count)
        self.bytes.buffer.copyBytes(from: bytes)
    }

    private init(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Void) throws(CryptoError) {
        bytes = Bytes(count: byteCount)
        try fill(bytes.buffer)
    }

    /// A new key, which nobody can guess.
    package static func random(byteCount: Int) throws(CryptoError) -> SymmetricKey {
        try SymmetricKey(byteCount: byteCount) { (buffer) throws(CryptoError) in try RandomBytes.fill(buffer) }
    }

    /// A key that is derived from this key (HKDF with SHA-256, RFC 5869). The same key, salt and info give the same derived key.
    /// This key cannot be computed from the derived key.
    package func derived(
        salt: [UInt8] = [], info: [UInt8], byteCount: Int
    ) throws(CryptoError) -> SymmetricKey {
        guard let context = EVP_KDF_CTX_new(try Algorithm.hkdf.get().pointer) else { throw .ofLibrary("derive a key") }
        defer { EVP_KDF_CTX_free(context) }
        return try SymmetricKey(byteCount: byteCount) { (output) throws(CryptoError) in
            let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
            let status = withUnsafeBytes { key in
                layover_hkdf_sha256(
                    context, key.baseAddress, key.count, salt, salt.count, info, info.count, start, output.count)
            }
            try CryptoError.check(status, "derive a key")
        }
    }

    package var byteCount: Int { bytes.buffer.count }

    /// - Parameter body: It must not keep the pointer.
    package func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withExtendedLifetime(bytes) { () throws(Failure) in try body(UnsafeRawBufferPointer(bytes.buffer)) }
    }

    package var description: String { "SymmetricKey" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// `@unchecked Sendable`: nothing changes the bytes after the key was made.
    private final class Bytes: @unchecked Sendable {
        let buffer: UnsafeMutableRawBufferPointer

        init(count: Int) { buffer = .allocate(byteCount: count, alignment: 16) }

        deinit {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
    }
}

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

/// Comparing secrets with guesses.
package enum ConstantTime {
    /// Takes as long for a guess that is almost right as for one that is all wrong (CRYPTO_memcmp(3)); the time depends on
    /// the length of the guess alone.
    package static func isEqual(_ guess: [UInt8], _ secret: [UInt8]) -> Bool {
        let hasLength = guess.count == secret.count
        let difference = CRYPTO_memcmp(guess, hasLength ? secret : guess, guess.count)
        return difference == 0 && hasLength
    }
}
