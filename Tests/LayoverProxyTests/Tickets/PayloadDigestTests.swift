import LayoverCore
import NIOCore
import Testing

@testable import LayoverProxy

struct PayloadDigestTests {
    private func digest(target: String = "/orders?x=1") throws -> PayloadDigest {
        try PayloadDigest(
            key: "\"order-47\"", identity: ["authorization", "Bearer hunter2-token"], method: "POST",
            origin: Origin(scheme: .http, host: "shop.example.com", port: 80), target: target)
    }

    private func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Version 0.1 made them, so a key that it stored is found.
    @Test func payloadDigestsOfVersion01StayTheSame() throws {
        var digest = try digest()
        #expect(text(digest.key) == "618e061f39cc99cad1e214330a45783546afb55a75c6c46e2282d0cb3b900952")
        #expect(text(digest.mark.payload) == "86ea27e8dd9603c3132858c2560059abca94ac33c8821c47019ced5b43cd7441")
        digest.update(ByteBuffer(string: "two "))
        digest.update(ByteBuffer(string: "books"))
        #expect(text(digest.mark.payload) == "c8b8d295e87b1a2bbaca15ddaf8a2cfb630058e719c10992d5bd80ddee13a912")
        #expect(digest.mark.key == digest.key)
    }

    /// OpenSSL fails when memory has run out. No test can make it fail.
    @Test func failedDigestEqualsNoOtherAndStaysTheSame() throws {
        var failed = try digest()
        failed.payload = nil
        let before = failed.mark
        failed.update(ByteBuffer(string: "two books"))
        #expect(failed.mark == before)
        #expect(failed.mark.key == (try digest().key))
        #expect(failed.mark.payload.count == (try digest().mark.payload.count))
        #expect(failed.mark.payload != (try digest().mark.payload))
        var other = try digest()
        other.payload = nil
        #expect(other.mark.payload != failed.mark.payload)
    }

    @Test func payloadDigestCopyIsIndependent() throws {
        var first = try digest()
        let second = first
        let before = second.mark
        first.update(ByteBuffer(string: "two books"))
        #expect(second.mark == before)
        #expect(first.mark.payload != before.payload)
    }
}
