import COpenSSL
import NIOCore
import Testing

@testable import LayoverTLS

/// Key updates of a client (RFC 8446 section 4.6.3).
struct KeyUpdateTests {
    /// A client and a server that have finished their handshake.
    private struct Pair {
        let client: TLSClientSession
        let server: TLSServerSession

        init() async throws {
            let rig = try LeafRig()
            let identity = try await rig.context("o.test")
            let trust = try TLSClientContext(trustFile: rig.caFile)
            client = try TLSClientSession(trust, host: "o.test", port: 443, cache: TLSSessionCache())
            server = try TLSServerSession()
            for _ in 0..<10 where !(client.isEstablished && server.isEstablished) {
                try client.handshake()
                try server.receive(outgoing(of: client))
                try server.handshake()
                if server.isContextAwaited {
                    server.use(identity)
                    try server.handshake()
                }
                try client.receive(outgoing(of: server))
            }
            try #require(client.isEstablished && server.isEstablished)
        }

        /// The bytes of so many key updates in a row.
        func keyUpdates(_ count: Int) -> ByteBuffer {
            for _ in 0..<count {
                #expect(SSL_key_update(client.tls, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
                #expect(SSL_do_handshake(client.tls) == 1)
            }
            return outgoing(of: client)
        }

        func bytes(_ count: Int) throws -> ByteBuffer {
            var out = ByteBuffer()
            try client.write(ByteBuffer(repeating: 65, count: count), into: &out)
            return out
        }

        /// - Returns: The bytes of the application.
        func serve(_ bytes: ByteBuffer) throws -> Int {
            var (bytes, plaintext) = (bytes, ByteBuffer())
            try server.read(taking: &bytes, into: &plaintext)
            return plaintext.readableBytes
        }
    }

    /// A few of them before short records, and one before each record of the full size.
    @Test(arguments: [(64, 10), (300, 16 << 10)])
    func keyUpdateBeforeEachRecordPasses(count: Int, byteCount: Int) async throws {
        let pair = try await Pair()
        for _ in 0..<count {
            #expect(try pair.serve(pair.keyUpdates(1)) == 0)
            #expect(try pair.serve(pair.bytes(byteCount)) == byteCount)
        }
    }

    @Test(arguments: [1, 100]) func floodOfKeyUpdatesEndsTheConnection(inARow count: Int) async throws {
        let pair = try await Pair()
        let error = #expect(throws: TLSError.self) {
            for _ in 0..<1000 { _ = try pair.serve(pair.keyUpdates(count)) }
        }
        #expect(error?.kind == .violation)
    }

    @Test func floodBetweenSmallRecordsEndsTheConnection() async throws {
        let pair = try await Pair()
        #expect(throws: TLSError.self) {
            for _ in 0..<1000 {
                _ = try pair.serve(pair.keyUpdates(10))
                _ = try pair.serve(pair.bytes(1))
            }
        }
    }
}
