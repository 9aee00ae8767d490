import COpenSSL
import LayoverTestSupport
import Testing

@testable import LayoverSystem

struct AES256GCMTests {
    struct Vector: Sendable {
        var key: String
        var nonce: String
        var plaintext: String
        var associated = ""
        var ciphertext: String
        var tag: String
    }

    private static let longKey = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let zeroKey = String(repeating: "00", count: 32)
    private let key: SymmetricKey

    init() throws { key = try .random(byteCount: 32) }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B, test cases 13 to 16.
    @Test(arguments: [
        Vector(
            key: zeroKey, nonce: "000000000000000000000000", plaintext: "", ciphertext: "",
            tag: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: zeroKey, nonce: "000000000000000000000000", plaintext: "00000000000000000000000000000000",
            ciphertext: "cea7403d4d606b6e074ec5d3baf39d18", tag: "d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: longKey, nonce: "cafebabefacedbaddecaf888",
            plaintext: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
                """,
            ciphertext: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
                """,
            tag: "b094dac5d93471bdec1a502270e3cc6c"),
        Vector(
            key: longKey, nonce: "cafebabefacedbaddecaf888",
            plaintext: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
                """,
            associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            ciphertext: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
                """,
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ])
    func publishedVector(vector: Vector) throws {
        let key = SymmetricKey(bytes(vector.key))
        let sealed = try AES256GCM.seal(
            bytes(vector.plaintext), using: key, nonce: bytes(vector.nonce), authenticating: bytes(vector.associated))
        #expect(sealed == bytes(vector.nonce) + bytes(vector.ciphertext) + bytes(vector.tag))
        #expect(try AES256GCM.open(sealed, using: key, authenticating: bytes(vector.associated)) == bytes(vector.plaintext))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func sealedBytesOpen(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func some(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        let (plaintext, associated) = (some(0...500), some(0...50))
        let sealed = try AES256GCM.seal(plaintext, using: key, authenticating: associated)
        #expect(sealed.count == plaintext.count + 28)
        #expect(try AES256GCM.open(sealed, using: key, authenticating: associated) == plaintext)
    }

    @Test func nonceDiffersEachTime() throws {
        let sealed = try (0..<100).map { _ in try AES256GCM.seal([1, 2, 3], using: key, authenticating: []) }
        #expect(Set(sealed.map { $0.prefix(AES256GCM.nonceByteCount) }).count == sealed.count)
    }

    @Test func anyChangedBitIsNoticed() throws {
        let sealed = try AES256GCM.seal(Array("hunter2".utf8), using: key, authenticating: [1, 2])
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(refusal(of: changed, key, [1, 2]) == .notAuthentic, "bit \(bit)")
        }
    }

    @Test func truncatedBytesAreRefused() throws {
        let sealed = try AES256GCM.seal(Array("hunter2".utf8), using: key, authenticating: [])
        for count in 0..<sealed.count {
            #expect(refusal(of: Array(sealed.prefix(count)), key, []) == .notAuthentic, "the first \(count)")
            #expect(refusal(of: Array(sealed.suffix(count)), key, []) == .notAuthentic, "the last \(count)")
        }
    }

    @Test func anotherKeyOrOtherAssociatedBytesDoNotOpenIt() throws {
        let sealed = try AES256GCM.seal(Array("hunter2".utf8), using: key, authenticating: [1])
        #expect(refusal(of: sealed, try .random(byteCount: 32), [1]) == .notAuthentic)
        #expect(refusal(of: sealed, key, [2]) == .notAuthentic)
        #expect(refusal(of: sealed, key, []) == .notAuthentic)
        #expect(refusal(of: sealed, key, [1]) == nil)
    }

    @Test(arguments: [0, 16, 31, 33])
    func keyOfAWrongLengthIsRefused(byteCount: Int) throws {
        let key = SymmetricKey([UInt8](repeating: 1, count: byteCount))
        let sealed = [UInt8](repeating: 0, count: 40)
        #expect(refusal(of: sealed, key, []) == .wrongLength)
        #expect { try AES256GCM.seal([1], using: key, authenticating: []) } throws: { ($0 as? CryptoError)?.code == .wrongLength }
    }

    @Test func nonceOfAWrongLengthIsRefused() throws {
        #expect {
            try AES256GCM.seal([1], using: key, nonce: [1, 2, 3], authenticating: [])
        } throws: { ($0 as? CryptoError)?.code == .wrongLength }
    }

    /// A TLS connection on the same thread would take it for an error of its own.
    @Test func aRefusalLeavesNoErrorOnTheThread() throws {
        #expect(refusal(of: [UInt8](repeating: 0, count: 40), key, []) == .notAuthentic)
        #expect(ERR_peek_error() == 0)
    }

    /// Returns nil if the sealed bytes opened.
    private func refusal(of sealed: [UInt8], _ key: SymmetricKey, _ associated: [UInt8]) -> CryptoError.Code? {
        do throws(CryptoError) {
            _ = try AES256GCM.open(sealed, using: key, authenticating: associated)
            return nil
        } catch { return error.code }
    }
}
