import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

/// Values out of the compressed response of an earlier ticket.
struct CompressedResponseTests {
    /// `{"id":"o-77","n":[1,2]}`, by RFC 1952, RFC 1950, RFC 1951, compressed twice, and in two members.
    private static let gzip = "1f8b0800000000000203ab56ca4c51b252cad7353757d251ca53b28a36d4318aad050057175fa417000000"
    private static let zlib = "789cab56ca4c51b252cad7353757d251ca53b28a36d4318aad050047a105f1"
    private static let raw = "ab56ca4c51b252cad7353757d251ca53b28a36d4318aad0500"
    private static let twice =
        "1f8b080000000000020393efe660000126e6d561a77c0237059dba6e6a1e7e29f054f0a62eb32b865d6b5919c2c5e3978803950000b9e187662b000000"
    private static let members =
        "1f8b0800000000000203ab56ca4c5102009e5eecd1050000001f8b0800000000000203b352cad7353757d251ca53b28a36d4318aad050082c7f28d12000000"

    /// 2 MiB of spaces, compressed twice.
    private static let bomb = """
        1f8b080000000000020393efe660000126e6b7070d19818c430bb45ecfbf2461e7c0c8300a46c1281805a360148c82e10e6a\
        78eba45a631818141800b0a3248514080000
        """

    static func bytes(_ hexadecimal: String) -> ByteBuffer {
        var bytes = ByteBuffer()
        var rest = hexadecimal[...]
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.writeInteger(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// A ticket that was answered so, and another that wants a value from there.
    private static func child(
        of proxy: TestProxy, coding: String, answer: ByteBuffer
    ) async throws -> EntryID {
        let parent = try await proxy.accept("/orders")
        let first = try await proxy.nextAttempt()
        #expect(await first.mark())
        first.sendHead(
            201, ["Content-Type: application/json", "Content-Encoding: \(coding)", "Content-Length: \(answer.readableBytes)"])
        first.deliver([.body(answer), .end(trailers: nil)])
        _ = try await proxy.until(parent, is: .delivered)
        return try await proxy.accept("/orders/~ticket.\(parent).json.id~/lines")
    }

    @Test(arguments: [
        ("gzip", gzip), ("X-GZip", gzip), ("gzip", members), ("deflate", zlib), ("deflate", raw), ("gzip, gzip", twice),
        ("identity, gzip", gzip),
    ])
    func tokenIsReplacedFromACompressedResponse(coding: String, answer: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let child = try await Self.child(of: proxy, coding: coding, answer: Self.bytes(answer))
            let attempt = try await proxy.nextAttempt("the attempt of the one that waited")
            #expect(attempt.request.target == "/orders/o-77/lines")
            try await attempt.answerWell()
            _ = try await proxy.until(child, is: .delivered)
        }
    }

    @Test(arguments: [
        ("br", gzip, "is compressed with br, which is not supported"),
        ("ZSTD", gzip, "is compressed with zstd, which is not supported"),
        ("sec\"ret", gzip, "is compressed in an unsupported way"),
        ("gzip, gzip, gzip, gzip", gzip, "is compressed in an unsupported way"),
        ("gzip", zlib, "does not match its Content-Encoding"),
        ("gzip", String(gzip.dropLast(2)), "does not match its Content-Encoding"),
        ("gzip", gzip + "00", "does not match its Content-Encoding"),
        ("deflate", "ffffff", "does not match its Content-Encoding"),
        ("gzip", "", "does not match its Content-Encoding"),
        ("gzip, gzip", bomb, "is longer than 1048576 bytes"),
    ])
    func unreadableParentResponseMakesTheTicketUndecided(coding: String, answer: String, why: String) async throws {
        try await withProxy(tickets: TestStore()) { proxy in
            let child = try await Self.child(of: proxy, coding: coding, answer: Self.bytes(answer))
            let document = try await proxy.until(child, is: .undecided)
            #expect(document.member("why") == "rejected")
            #expect(document.member("message")?.contains(why) == true, "\(document.body)")
            try await proxy.expectAttempts(1)
        }
    }
}
