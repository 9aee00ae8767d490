import Foundation
import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

/// The serving side against real clients.
@Suite(.serialized)
struct ServingTests {
    private let rig: ServingRig

    init() async throws { rig = try await ServingRig() }

    private func client(_ arguments: [String]) async throws -> CommandResult {
        try await Command(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(rig.port)", "-CAfile", rig.caFile, "-verify_return_error"] + arguments
        ).run(within: .seconds(60))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"], [("h2,http/1.1", "h2"), ("http/1.1", "http/1.1"), ("foo", "none"), ("", "none")])
    func protocolIsTheFirstOfOursThatTheClientOffers(version: String, offer: (String, String)) async throws {
        let alpn = offer.0.isEmpty ? [] : ["-alpn", offer.0]
        let result = try await client([version, "-servername", "shop.example", "-verify_hostname", "shop.example"] + alpn)
        #expect(result.output.contains("Verify return code: 0 (ok)"), "\(result)")
        // The client ends its handshake before the server has read its last message.
        try await rig.events.wait("the handshake") { !$0.isEmpty }
        #expect(rig.events.value.first == "\(offer.1) shop.example new")
    }

    @Test func curlGetsAResponseWithAndWithoutAName() async throws {
        for (host, expected) in [("shop.example", "shop.example"), ("127.0.0.1", "none")] {
            let result = try await Command(
                "curl",
                [
                    "-sS", "--http1.1", "--cacert", rig.caFile, "--resolve", "shop.example:\(rig.port):127.0.0.1",
                    "https://\(host):\(rig.port)/",
                ]
            ).succeed(within: .seconds(60))
            #expect(result.output == "h2 \(expected) new" || result.output == "http/1.1 \(expected) new")
        }
    }

    @Test func clientThatDoesNotTrustTheAuthorityIsACertainRejection() async throws {
        _ = try await Command("curl", ["-sS", "--http1.1", "https://127.0.0.1:\(rig.port)/"]).run(within: .seconds(60))
        try await rig.events.wait("the alert") { $0.contains { $0.contains("alert 48") && $0.hasSuffix("rejection certain") } }
    }

    /// Python with the flag that is its default from 3.13 on.
    @Test func strictVerifierAcceptsNamesOfEveryKind() async throws {
        let long = String(repeating: "a", count: 60) + "." + String(repeating: "b", count: 60) + ".example"
        let program = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[1])
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            for name in sys.argv[3:]:
                with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as raw:
                    context.wrap_socket(raw, server_hostname=name).close()
            """
        let names = ["shop.example", "xn--bcher-kva.example", "127.0.0.1", long]
        try await Command("python3", ["-c", program, rig.caFile, "\(rig.port)"] + names).succeed(within: .seconds(60))
    }

    @Test func helloInSegmentsOfOneByteIsUnderstood() async throws {
        let context = try await rig.leaves.context(for: "shop.example", on: MultiThreadedEventLoopGroup.singleton.next()).get()
        let channel = EmbeddedChannel()
        let seen = Mutex<TLSClientHello?>(nil)
        let loop = channel.embeddedEventLoop
        try channel.pipeline.syncOperations.addHandler(
            TLSServerHandler { hello in
                seen.withLock { $0 = hello }
                return loop.makeSucceededFuture(context)
            })
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let client = try TLSClientSession(
            TLSClientContext(trustFile: rig.caFile), host: "shop.example", port: 443, cache: TLSSessionCache())
        while !client.isEstablished {
            try client.handshake()
            var bytes = ByteBuffer()
            client.takeOutgoing(into: &bytes)
            while let byte = bytes.readSlice(length: 1) { try channel.writeInbound(byte) }
            while let answer = try channel.readOutbound(as: ByteBuffer.self) { try client.receive(answer) }
        }
        channel.pipeline.read()
        var out = ByteBuffer()
        client.takeOutgoing(into: &out)
        try client.write(ByteBuffer(string: "hello"), into: &out)
        while let byte = out.readSlice(length: 1) { try channel.writeInbound(byte) }
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "hello"))
        #expect(seen.withLock(\.self) == TLSClientHello(serverName: "shop.example", protocols: ["http/1.1"]))
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
