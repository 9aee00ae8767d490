import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// HTTPS that ends in Layover: routes with `intercept`, real clients that trust its authority.
    @Suite(.bothPaths) struct Interception {
        @Test(arguments: OriginTiming.allCases)
        func requestInsideIsHeldAndDelivered(timing: OriginTiming) async throws {
            let test = try await InterceptionScene()
            let (result, records) = try await test.scene.run(
                test.curl("/echo", "--fail", "--data", "one order"), origin: timing, identity: test.authority.identity)
            #expect(result.status == 0, "\(result)")
            #expect(records.filter { $0.event == "request" }.map(\.target) == ["/echo"], "it arrived once")
        }

        @Test func waitingRequestIsListedWithItsWholeURL() async throws {
            let test = try await InterceptionScene()
            let running = try test.curl("/echo?a=b", "--fail").start()
            let pending = try await test.scene.layover.waitForPending { !$0.data.isEmpty }
            #expect(pending.data.first?.url == test.scene.secureURL("/echo?a=b"))
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(await running.result().status == 0)
            withExtendedLifetime(origin) {}
        }

        /// The client names its user once, with CONNECT.
        @Test func requestsInsideBelongToTheUserOfTheirTunnel() async throws {
            let test = try await InterceptionScene(users: #"{"me": "$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."}"#)
            let origin = try await test.scene.startOrigin(test.authority.identity)
            #expect(try await test.curl("/echo").run().status != 0, "CONNECT is refused")
            let layover = test.scene.layover
            let result = try await test.curl(
                "/echo", "--fail", "--proxy", "http://me:secret@127.0.0.1:\(layover.proxyPort)", test.scene.secureURL("/echo?2")
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(origin.records.filter { $0.event == "request" }.map(\.target) == ["/echo", "/echo?2"])
            #expect(try await layover.call("GET", "/metrics").text.contains(#"layover_user_requests_total{user="me"} 3"#))
        }

        /// The client's own handshake succeeds; inside it is told.
        @Test func badCertificateOfTheOriginIsAnErrorInside() async throws {
            let test = try await InterceptionScene(trusts: false)
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let result = try await test.curl("/echo").run()
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains(#""kind":"tls_certificate_error""#), "\(result)")
            #expect(origin.records.isEmpty)
            #expect(try await test.scene.layover.waitForPending { _ in true }.data.isEmpty)
        }

        /// `layover ca trust` puts the authority into the system's store, and Layover would believe another one in between.
        @Test func certificateOfTheOwnAuthorityIsNotAcceptedFromAServer() async throws {
            let test = try await InterceptionScene()
            let folder = test.scene.root
            let own = test.ownAuthority
            let names = ["impostor.key", "impostor.csr", "impostor.pem", "impostor.ext"].map { folder.file($0).path }
            try folder.write("subjectAltName=DNS:localhost\n", to: "impostor.ext")
            try await Command(
                "openssl",
                [
                    "req", "-subj", "/CN=localhost", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    names[0],
                    "-out", names[1],
                ]
            ).succeed()
            try await Command(
                "openssl",
                [
                    "x509", "-req", "-days", "2", "-in", names[1], "-CA", own, "-CAkey", own.replacing("ca.pem", with: "ca.key"),
                    "-CAcreateserial",
                    "-extfile", names[3], "-out", names[2],
                ]
            ).succeed()
            let bundle = folder.file("bundle.pem").path
            try Data(contentsOf: URL(fileURLWithPath: own)).write(to: URL(fileURLWithPath: bundle))
            // As `tls.caFile`, where nothing but the rule stands against it.
            let believer = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(bundle)", "folder": "\(URL(fileURLWithPath: own).deletingLastPathComponent().path)"},
                 "routes": {"shop": {"upstream": "\(test.scene.secureURL(""))"}}}
                """)
            let origin = try await test.scene.startOrigin(.init(certificate: names[2], key: names[0]))
            let direct = try await Command(
                "curl", ["--silent", "--show-error", "--fail", "--cacert", bundle, test.scene.secureURL("/echo")]
            ).run()
            #expect(direct.status == 0, "the certificate is a good one: \(direct)")
            let result = try await Command("curl", ["--silent", "\(believer.proxyURL)/.layover/route/shop/echo"]).run()
            #expect(result.output.contains(#""kind":"tls_certificate_error""#), "\(result)")
            #expect(origin.records.count { $0.event == "request" } == 1, "only curl's own request came")
        }

        @Test func hostWithoutARouteIsTunnelledToItsOwnCertificate() async throws {
            let test = try await InterceptionScene()
            let origin = try await test.scene.startOrigin(test.authority.identity)
            let url = "https://127.0.0.1:\(test.scene.port.number)/echo"
            let result = try await test.scene.layover.client(
                "curl", "--silent", "--show-error", "--fail", "--cacert", test.authority.certificate, url
            ).run()
            #expect(result.status == 0, "\(result)")
            withExtendedLifetime(origin) {}
        }

        /// The server speaks first, so no ClientHello comes.
        @Test func protocolOtherThanTLSIsTunnelledByteForByte() async throws {
            let test = try await InterceptionScene()
            let program = """
                import socket, sys
                server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
                connection, _ = server.accept()
                connection.sendall(b"220 ready\\r\\n")
                print(connection.makefile().readline(), end="")
                connection.sendall(b"221 bye\\r\\n")
                connection.close()
                """
            let server = try Command("/usr/bin/python3", ["-c", program, "\(test.scene.port.number)"]).start()
            let response = try await test.scene.layover.exchange(
                "CONNECT localhost:\(test.scene.port.number) HTTP/1.1\r\nHost: localhost:\(test.scene.port.number)\r\n\r\nHELO \u{1}\u{7F}\r\n"
            )
            #expect(response.status == 200)
            #expect(response.text == "220 ready\r\n221 bye\r\n")
            #expect(await server.result().output == "HELO \u{1}\u{7F}\n")
        }

        @Test func anotherHostInsideIsMisdirected() async throws {
            let test = try await InterceptionScene()
            let result = try await test.curl(
                "/echo", "--header", "Host: elsewhere.example", "--output", "/dev/null", "--write-out", "%{http_code}"
            )
            .run()
            #expect(result.output == "421", "\(result)")
        }

        @Test func execWithInterceptNeedsNothingElse() async throws {
            let root = try TemporaryFolder()
            let authority = try await TestAuthority(in: root)
            let port = try ReservedPort()
            try root.write(#"{"tls": {"caFile": "\#(authority.certificate)", "folder": "authority"}}"#, to: "config.json")
            let origin = try await RunningOrigin.start(in: root, port: port, identity: authority.identity)
            let words = [
                "exec", "--config", root.file("config.json").path, "--intercept", "localhost", "--", "curl", "--silent", "--show-error",
                "--fail",
                "https://localhost:\(port.number)/echo",
            ]
            let result = try await Command(RunningLayover.binary, words).with([
                "HOME": root.url.path, "CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "",
            ])
            .run()
            #expect(result.status == 0, "\(result)")
            #expect(origin.records.contains { $0.target == "/echo" })
        }
    }
}
