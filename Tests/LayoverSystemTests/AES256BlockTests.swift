import Testing

@testable import LayoverSystem

struct AES256BlockTests {
    /// FIPS 197 appendix C.3.
    @Test func publishedVector() throws {
        let cipher = try AES256Block(key: SymmetricKey(Array(0...31)))
        let (plain, encrypted) = (bytes("00112233445566778899aabbccddeeff"), bytes("8ea2b7ca516745bfeafc49904b496089"))
        // Twice: a block leaves nothing behind for the next one.
        for _ in 1...2 {
            #expect(try cipher.encrypt(plain) == encrypted)
            #expect(try cipher.decrypt(encrypted) == plain)
        }
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func wrongBlockLengthIsRefused(byteCount: Int) throws {
        let cipher = try AES256Block(key: .random(byteCount: 32))
        for turn in [cipher.encrypt, cipher.decrypt] {
            #expect {
                try turn([UInt8](repeating: 0, count: byteCount))
            } throws: { ($0 as? CryptoError)?.code == .wrongLength }
        }
        let block = [UInt8](repeating: 7, count: 16)
        #expect(try cipher.decrypt(cipher.encrypt(block)) == block)
    }

    @Test func manyTasksUseOneCipherAtOnce() async throws {
        let cipher = try AES256Block(key: .random(byteCount: 32))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<32 {
                group.addTask {
                    for round in 0..<100 {
                        let block = [UInt8](repeating: UInt8(number), count: 15) + [UInt8(round)]
                        guard try cipher.decrypt(cipher.encrypt(block)) == block else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
