import COpenSSL

/// A SHA-256 digest (FIPS 180-4) of bytes that come piece by piece.
///
/// A copy goes on by itself, and the digest may be asked for before the last byte has come.
package struct SHA256: Sendable {
    package static let byteCount = 32

    private var context: Context

    package init() throws(CryptoError) {
        context = try Context()
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) {
        try update(bytes.baseAddress, count: bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) throws(CryptoError) {
        try update(bytes, count: bytes.count)
    }

    private mutating func update(_ start: UnsafeRawPointer?, count: Int) throws(CryptoError) {
        if !isKnownUniquelyReferenced(&context) { context = try Context(copying: context) }
        try context.update(start, count: count)
    }

    /// The digest of all bytes so far.
    package func digest() throws(CryptoError) -> [UInt8] {
        try Context(copying: context).finish()
    }

    package static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = try Context()
        try context.update(bytes, count: bytes.count)
        return try context.finish()
    }

    /// OpenSSL's state of one digest.
    ///
    /// `@unchecked Sendable`: it is changed only while one value refers to it, and that value has a single writer like
    /// any other. Copying it reads it.
    private final class Context: @unchecked Sendable {
        private let pointer: OpaquePointer

        init() throws(CryptoError) {
            pointer = try Self.make()
            try CryptoError.check(EVP_DigestInit_ex2(pointer, try Algorithm.sha256.get().pointer, nil), "begin a digest")
        }

        init(copying other: Context) throws(CryptoError) {
            pointer = try Self.make()
            try CryptoError.check(EVP_MD_CTX_copy_ex(pointer, other.pointer), "copy a digest")
        }

        deinit { EVP_MD_CTX_free(pointer) }

        private static func make() throws(CryptoError) -> OpaquePointer {
            guard let pointer = EVP_MD_CTX_new() else { throw .ofLibrary("make a digest") }
            return pointer
        }

        func update(_ start: UnsafeRawPointer?, count: Int) throws(CryptoError) {
            guard count > 0 else { return }
            try CryptoError.check(EVP_DigestUpdate(pointer, start, count), "continue a digest")
        }

        func finish() throws(CryptoError) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
            try CryptoError.check(EVP_DigestFinal_ex(pointer, &digest, nil), "finish a digest")
            return digest
        }
    }
}

/// HMAC with SHA-256 (RFC 2104): a digest that only the owner of the key can make.
package enum HMACSHA256 {
    package static func code(for bytes: [UInt8], using key: SymmetricKey) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MAC_CTX_new(try Algorithm.hmac.get().pointer) else { throw .ofLibrary("make an HMAC") }
        defer { EVP_MAC_CTX_free(context) }
        try key.withUnsafeBytes { (key) throws(CryptoError) in
            let start = key.assumingMemoryBound(to: UInt8.self).baseAddress
            try CryptoError.check(layover_hmac_sha256_init(context, start, key.count), "begin an HMAC")
        }
        try CryptoError.check(EVP_MAC_update(context, bytes, bytes.count), "continue an HMAC")
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = 0
        try CryptoError.check(EVP_MAC_final(context, &code, &count, code.count), "finish an HMAC")
        return code
    }
}
