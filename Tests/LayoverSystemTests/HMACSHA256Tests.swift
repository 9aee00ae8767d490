import Testing

@testable import LayoverSystem

struct HMACSHA256Tests {
    struct Vector: Sendable {
        var key: [UInt8]
        var message: [UInt8]
        /// The first bytes of it, where the document gives no more.
        var code: String
    }

    /// RFC 4231 section 4.
    @Test(arguments: [
        Vector(
            key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: Array(1...25), message: [UInt8](repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            key: [UInt8](repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        // Of no document: the empty message.
        Vector(
            key: [UInt8](repeating: 1, count: 32), message: [],
            code: "2e72eb6626e1d4f7fc6dff111585898f2e37c471a68862f07f10aa2824d57c75"),
    ])
    func publishedVector(vector: Vector) throws {
        let expected = bytes(vector.code)
        let code = try HMACSHA256.code(for: vector.message, using: SymmetricKey(vector.key))
        #expect(code.count == SHA256.byteCount)
        #expect(Array(code.prefix(expected.count)) == expected)
    }
}
