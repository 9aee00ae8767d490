import Testing

@testable import LayoverSystem

struct SymmetricKeyTests {
    struct Vector: Sendable {
        var key: String
        var salt: String
        var info: String
        var derived: String
    }

    /// RFC 5869 appendix A, test cases 1 to 3.
    @Test(arguments: [
        Vector(
            key: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "000102030405060708090a0b0c",
            info: "f0f1f2f3f4f5f6f7f8f9",
            derived: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        Vector(
            key: """
                000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f
                303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f
                """,
            salt: """
                606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f
                909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeaf
                """,
            info: """
                b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf
                e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
                """,
            derived: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        Vector(
            key: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "", info: "",
            derived: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ])
    func publishedVector(vector: Vector) throws {
        let expected = bytes(vector.derived)
        let derived = try SymmetricKey(bytes(vector.key)).derived(
            salt: bytes(vector.salt), info: bytes(vector.info), byteCount: expected.count)
        #expect(derived.withUnsafeBytes { Array($0) } == expected)
    }

    @Test func keyLongerThanTheAlgorithmAllowsIsRefused() throws {
        // 255 digests at most (RFC 5869 section 2.3).
        #expect(throws: CryptoError.self) { try SymmetricKey([1]).derived(info: [], byteCount: 255 * 32 + 1) }
    }

    @Test func randomKeysDiffer() throws {
        let keys = try (0..<100).map { _ in try SymmetricKey.random(byteCount: 32).withUnsafeBytes { Array($0) } }
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { $0.count == 32 })
    }

    @Test func noDescriptionShowsTheBytes() throws {
        let key = SymmetricKey(Array("hunter2-hunter2-hunter2-hunter2!".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains("104") && text.contains("SymmetricKey")) }
    }
}
