import Testing

@testable import LayoverCache

struct KeyedDigestTests {
    /// Version 0.1 made it, so the rows of its caches are found.
    @Test func digestsOfVersion01StayTheSame() throws {
        let digest = try KeyedDigest(salt: Array(0..<32))(Array("Bearer hunter2-token".utf8))
        let text = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(text == "a09e3dc3ef3b42e12d53f8d4412cbefdc28183a450743bb283c508ae86568b69")
    }
}
