import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// Clients that speak TLS to the proxy itself (`proxy.tls`).
    @Suite struct SecureListenerTests {
        /// A proxy with a certificate of an authority that the clients trust.
        private struct SecureScene {
            let scene: Scene
            let files: TemporaryFolder
            let authority: TestAuthority

            init(_ more: String = "") async throws {
                files = try TemporaryFolder()
                authority = try await TestAuthority(in: files)
                let identity = authority.identity
                scene = try await Scene(
                    """
                    {"proxy": {"tls": {"certificate": "\(identity.certificate)", "key": "\(identity.key)"}},
                     "policies": {"default": {"delay": {"type": "constant", "every": "100ms", "jitter": "none"}}}\(more)}
                    """)
            }

            var proxyURL: String { "https://localhost:\(scene.layover.proxyPort)" }

            func curl(_ words: String...) -> Command {
                Command("curl", ["--silent", "--show-error", "--proxy", proxyURL, "--proxy-cacert", authority.certificate] + words)
            }
        }

        @Test(arguments: OriginTiming.allCases, [false, true])
        func clientReachesOriginsByTLS(timing: OriginTiming, tunnels: Bool) async throws {
            let secure = try await SecureScene()
            let scene = secure.scene
            var command = secure.curl("--fail", scene.url("/echo"))
            if tunnels { command.arguments.append("--proxytunnel") }
            let (result, records) = try await scene.run(command, origin: timing)
            #expect(result.status == 0, "\(result)")
            #expect(records.map(\.target) == ["/echo"])
        }

        @Test(arguments: [false, true]) func bodiesPassUnchangedBothWays(tunnels: Bool) async throws {
            let secure = try await SecureScene()
            let origin = try await secure.scene.startOrigin()
            let tunnel = tunnels ? ["--proxytunnel"] : []
            let size = 20 << 20
            let file = secure.files.file("body")
            try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }).write(to: file)
            var upload = secure.curl("--fail", "--data-binary", "@\(file.path)", "-H", "Expect:", secure.scene.url("/sink"))
            var download = secure.curl("--fail", "--output", secure.files.file("got").path, secure.scene.url("/large/\(size)"))
            upload.arguments += tunnel
            download.arguments += tunnel
            async let uploaded = upload.succeed()
            async let downloaded = download.succeed()
            let response = try await uploaded.output
            _ = try await downloaded
            let digest = try await Command("sha256sum", [file.path]).succeed().output.prefix(64)
            #expect(response.contains(digest), "\(response)")
            let block = Data((0..<256).map { UInt8($0) })
            let got = try Data(contentsOf: secure.files.file("got"))
            #expect(got.count == size)
            #expect(stride(from: 0, to: size, by: 256).allSatisfy { got[$0..<$0 + 256] == block })
            withExtendedLifetime(origin) {}
        }

        @Test func addressesOfTheProxyItselfUseHTTPS() async throws {
            let secure = try await SecureScene()
            let layover = secure.scene.layover
            #expect(try await layover.command("env").run().output.contains("https://127.0.0.1:\(layover.proxyPort)"))
            let ports = try String(contentsOf: layover.folder.file("ports.json"), encoding: .utf8)
            #expect(ports.contains(#""proxyScheme":"https""#))
            #expect(try await layover.call("GET", "/proxy.pac").text.contains("HTTPS 127.0.0.1:\(layover.proxyPort); DIRECT"))
            let own = Command("curl", ["--silent", "--cacert", secure.authority.certificate])
            var ticket = own
            ticket.arguments += [
                "-D", "-", "-o", "/dev/null", "-H", "Prefer: respond-async, wait=0", "-H", "Host: 127.0.0.1:\(secure.scene.port.number)",
                "--proxy", secure.proxyURL, "--proxy-cacert", secure.authority.certificate, secure.scene.url("/echo"),
            ]
            let head = try await ticket.succeed().output
            let location = try #require(head.firstMatch(of: #/(?i)location: (https://\S+)/#)?.1)
            var asked = own
            asked.arguments += ["--fail", "--output", "/dev/null", "--write-out", "%{http_code}", String(location)]
            #expect(try await asked.succeed().output == "200")
            // A page of another site, and one of our own.
            for (origin, status) in [("https://localhost:\(layover.proxyPort)", "200"), ("http://localhost:\(layover.proxyPort)", "403")] {
                var page = own
                page.arguments += ["-o", "/dev/null", "-w", "%{http_code}", "-H", "Origin: \(origin)", secure.proxyURL + "/"]
                #expect(try await page.succeed().output == status)
            }
        }

        @Test func reloadTakesARenewedCertificateAndKeepsTheOldOneWhereItCannot() async throws {
            let secure = try await SecureScene()
            let layover = secure.scene.layover
            func serial() async throws -> String {
                let line = "openssl s_client -connect localhost:\(layover.proxyPort) </dev/null 2>/dev/null | openssl x509 -noout -serial"
                return try await Command("sh", ["-c", line]).succeed().output
            }
            let first = try await serial()
            _ = try await TestAuthority.identity(
                in: secure.files, signedBy: secure.authority.certificate, key: secure.files.file("ca.key").path)
            #expect(try await serial() == first)
            #expect(try await layover.command("reload").run().status == 0)
            let second = try await serial()
            #expect(second != first)
            try secure.files.write("no certificate", to: "origin.pem")
            let failed = try await layover.command("reload").run()
            #expect(failed.status != 0)
            #expect((failed.output + failed.errors).contains("proxy.tls"), "\(failed)")
            #expect(try await serial() == second)
        }

        @Test func clientThatSpeaksNoTLSGetsNothing() async throws {
            let secure = try await SecureScene()
            let plain = try await Command("curl", ["--silent", "--proxy", secure.scene.layover.proxyURL, secure.scene.url("/echo")]).run()
            #expect(plain.status != 0)
            #expect(
                try await secure.curl("--fail", "--proxy-insecure", secure.proxyURL.replacing("https://", with: "https://x@") + "/").run()
                    .status != 0)
            // The others are served on.
            let origin = try await secure.scene.startOrigin()
            #expect(try await secure.curl("--fail", secure.scene.url("/echo")).run().status == 0)
            withExtendedLifetime(origin) {}
        }

        @Test(arguments: [
            (#"{"certificate": "CERT"}"#, "proxy.tls.key is missing"), (#"{"certificate": "CERT", "key": "CA"}"#, "proxy.tls"),
            (#"{"certificate": "/nowhere/c", "key": "KEY"}"#, "/nowhere/c"), (#"{"certificate": "KEY", "key": "KEY"}"#, "proxy.tls"),
        ])
        func certificateThatCannotBeUsedEndsTheStart(setting: String, words: String) async throws {
            let files = try TemporaryFolder()
            let authority = try await TestAuthority(in: files)
            let text = setting.replacing("CERT", with: authority.identity.certificate).replacing("KEY", with: authority.identity.key)
                .replacing("\"CA\"", with: "\"\(files.file("ca.key").path)\"")
            try files.write(#"{"proxy": {"tls": \#(text)}}"#, to: "config.json")
            let result = await (try RunningLayover.launch(in: files)).result(within: .seconds(20))
            #expect(result.status == 1)
            #expect(result.errors.contains(words), "\(result)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
        }
    }
}
