import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Bytes behind a CONNECT: every ClientHello is understood, and other bytes are passed on unchanged.
    @Suite struct ClientHellos {
        /// Words for `tunnel_client.py`.
        static let shapes = [
            "--segment-size 1", "--record-size 1", "--record-size 5", "--record-size 300", "--record-size 100 --segment-size 1",
            "--offers 15872", "--offers 16384", "--offers 40960", "--offers 40960 --record-size 1000",
        ]

        @Test(arguments: ["", " --version 1.2"])
        func helloIsUnderstoodHoweverItIsDivided(version: String) async throws {
            let (test, origin) = try await InterceptionScene.withOrigin()
            for shape in Self.shapes {
                let words = (shape + version + " --name localhost --get /echo").split(separator: " ").map(String.init)
                let client = try await test.tunnelClient(words)
                #expect(client.names == ["localhost"] && client.status == 200, "\(shape)\(version): \(client)")
                #expect(client.version == (version.isEmpty ? "TLSv1.3" : "TLSv1.2"), "\(shape)")
            }
            #expect(origin.records.count == Self.shapes.count)
        }

        @Test func helloOfABrowserIsUnderstood() async throws {
            let test = try await InterceptionScene()
            for (version, expected) in [("1.3", "ServerHello\n"), ("1.2", "ServerHello\nshop.example\n")] {
                let result = try await Command(
                    "/usr/bin/python3",
                    ["-B", Fixtures.path("client_hello.py"), "\(test.scene.layover.proxyPort)", "localhost:443", "shop.example", version]
                ).succeed(within: .seconds(30))
                #expect(result.output == expected, "\(version)")
            }
        }

        /// SSH, plain HTTP, and what only begins like a ClientHello; each of them also with its end right behind it.
        @Test func bytesOtherThanAHelloAreTunnelledUnchanged() async throws {
            let test = try await InterceptionScene()
            let result = try await Command(
                "/usr/bin/python3",
                ["-B", Fixtures.path("tunnel_bytes.py"), "\(test.scene.layover.proxyPort)", "localhost", "\(test.scene.port.number)"]
            ).succeed(within: .seconds(60))
            #expect(result.output == "")
        }

        /// A fingerprint of the client, as servers make them, stays that of the client.
        @Test func originOfAHostThatIsNotInterceptedSeesTheClientsOwnHello() async throws {
            let test = try await InterceptionScene()
            let program = """
                import socket, ssl, sys
                proxy, port = int(sys.argv[1]), int(sys.argv[2])
                server = socket.create_server(("127.0.0.1", port))
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                context = ssl.create_default_context()
                context.set_alpn_protocols(["h2", "http/1.1"])
                tls = context.wrap_bio(incoming, outgoing, server_hostname="shop.example")
                try:
                    tls.do_handshake()
                except ssl.SSLWantReadError:
                    hello = outgoing.read()
                for host in ("127.0.0.1", "localhost"):
                    client = socket.create_connection(("127.0.0.1", proxy), timeout=20)
                    client.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n".encode() + hello)
                    stream = client.makefile("rb")
                    while stream.readline().strip():
                        pass
                    if host == "localhost":
                        # It is answered by the proxy, without the origin.
                        print(host, "answered" if stream.read(1) == b"\\x16" else "not answered")
                        server.setblocking(False)
                    try:
                        connection, _ = server.accept()
                    except BlockingIOError:
                        print(host, "nothing came")
                        continue
                    came = b""
                    while len(came) < len(hello) and (part := connection.recv(65536)):
                        came += part
                    print(host, "the same" if came == hello else "another")
                """
            let result = try await Command(
                "/usr/bin/python3", ["-c", program, "\(test.scene.layover.proxyPort)", "\(test.scene.port.number)"]
            ).succeed(within: .seconds(30))
            #expect(result.output == "127.0.0.1 the same\nlocalhost answered\nlocalhost nothing came\n")
        }
    }
}
