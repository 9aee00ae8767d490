import NIOCore
import NIOEmbedded
import Testing

@testable import LayoverProxy

struct HTTP2SettingsInForceTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]
    private static let headers: [UInt8] = [0, 0, 3, 1, 5, 0, 0, 0, 1, 0x82, 0x84, 0x87]
    private static let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    private static let acknowledgement = HTTP2SettingsInForce.acknowledgement

    /// The output for input in pieces of this size, and true if the handler is still in the pipeline.
    private static func passed(_ bytes: [UInt8], piece: Int) throws -> (bytes: [UInt8], isThere: Bool) {
        let channel = EmbeddedChannel(handler: HTTP2SettingsInForce())
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + piece)]))
        }
        var result: [UInt8] = []
        while let buffer = try channel.readInbound(as: ByteBuffer.self) { result += Array(buffer.readableBytesView) }
        let isThere = (try? channel.pipeline.syncOperations.handler(type: HTTP2SettingsInForce.self)) != nil
        _ = try channel.finish()
        return (result, isThere)
    }

    @Test(arguments: [1, 2, 7, 9, 10, 24, 33, 1000])
    func acknowledgementComesBehindTheFirstFrame(piece: Int) throws {
        let all = Self.preface + Self.settings + Self.headers + Self.ping + Self.acknowledgement + Self.headers
        let (bytes, isThere) = try Self.passed(all, piece: piece)
        #expect(bytes == Self.preface + Self.settings + Self.acknowledgement + Self.headers + Self.ping + Self.headers)
        #expect(!isThere)
    }

    @Test(arguments: [1, 1000]) func emptySettingsCountToo(piece: Int) throws {
        let empty: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let (bytes, isThere) = try Self.passed(Self.preface + empty + Self.acknowledgement, piece: piece)
        #expect(bytes == Self.preface + empty + Self.acknowledgement)
        #expect(!isThere)
    }

    /// NIOHTTP2 refuses this input: the first frame must be SETTINGS, and nothing was sent that needs an
    /// acknowledgement.
    @Test func acknowledgementAsFirstFramePasses() throws {
        let (bytes, _) = try Self.passed(Self.preface + Self.acknowledgement, piece: 1000)
        #expect(bytes == Self.preface + Self.acknowledgement + Self.acknowledgement)
    }

    /// Bytes of a payload that look like an acknowledgement do not count.
    @Test func payloadIsNotLookedAt() throws {
        let data: [UInt8] = [0, 0, 9, 0, 0, 0, 0, 0, 1] + Self.acknowledgement
        let (bytes, isThere) = try Self.passed(Self.preface + Self.settings + data, piece: 5)
        #expect(bytes == Self.preface + Self.settings + Self.acknowledgement + data)
        #expect(isThere)
    }
}
