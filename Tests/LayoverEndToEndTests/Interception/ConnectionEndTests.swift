import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that close their side inside an intercepted connection (RFC 9112 section 9.8).
    @Suite(.bothPaths) struct ConnectionEnds {
        @Test(arguments: ["1.2", "1.3"]) func endBehindAWholeRequestIsNoError(version: String) async throws {
            let test = try await InterceptionScene()
            let origin = try await test.scene.startOrigin(test.authority.identity)
            for end in ["silent", "notify"] {
                let client = try await test.tunnelClient(
                    ["--name", "localhost", "--post", "/echo", "--end", end] + (version == "1.2" ? ["--version", version] : []))
                #expect(client.status == 200, "\(end): \(client)")
                #expect(client.end == "close_notify", "\(end): our end is told by TLS")
            }
            #expect(origin.records.map(\.length) == [1000, 1000])
            let log = test.scene.layover.process.output + test.scene.layover.process.errors
            #expect(!log.contains(#""level":"error""#) && !log.contains(#""level":"warning""#), "\(log)")
        }

        private static let floodingClient = """
            import select, socket, ssl, sys
            proxy, port, authority = sys.argv[1:]
            connection = socket.create_connection(("127.0.0.1", int(proxy)), timeout=60)
            connection.sendall(f"CONNECT localhost:{port} HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n\\r\\n".encode())
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                head += connection.recv(1)
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = ssl.create_default_context(cafile=authority).wrap_bio(incoming, outgoing, server_hostname="localhost")
            def until_done(step):
                while True:
                    try:
                        result = step()
                        connection.sendall(outgoing.read())
                        return result
                    except ssl.SSLWantReadError:
                        connection.sendall(outgoing.read())
                        incoming.write(connection.recv(65536))
            until_done(client.do_handshake)
            until_done(lambda: client.write(f"GET /stalled/1000000 HTTP/1.1\\r\\nHost: localhost:{port}\\r\\n\\r\\n".encode()))
            count = 0
            while count < 65536:
                count += len(until_done(lambda: client.read(65536)))
            try:
                client.unwrap()
            except ssl.SSLWantReadError:
                pass
            connection.sendall(outgoing.read())
            connection.setblocking(False)
            sent, block = 0, bytes(1 << 16)
            while sent < 64 << 20 and select.select([], [connection], [], 2)[1]:
                sent += connection.send(block)
            print(sent)
            """

        /// Bytes behind a close_notify mean nothing, and are left where they cost the sender.
        @Test func bytesBehindTheEndAreNotKept() async throws {
            let test = try await InterceptionScene()
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let result = try await Command("python3", [
                "-c", Self.floodingClient, "\(test.scene.layover.proxyPort)", "\(test.scene.port.number)", test.ownAuthority,
            ]).succeed()
            let sent = try #require(Int(result.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(sent < 32 << 20, "\(sent) bytes were taken")
            withExtendedLifetime(origin) {}
        }

        /// A body that is cut off is no body, whether TLS says that it is over or not.
        @Test(arguments: ["silent", "notify"]) func endWithinABodyIsNoWholeRequest(end: String) async throws {
            let test = try await InterceptionScene()
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let client = try await test.tunnelClient(["--name", "localhost", "--post", "/echo", "--body", "999", "--end", end])
            #expect(client.status != 200, "\(client)")
            _ = try await test.tunnelClient(["--name", "localhost", "--get", "/echo?second"])
            #expect(origin.records.map(\.target) == ["/echo?second"], "nothing else came whole")
        }
    }
}
