import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd.Direct {
    // MARK: HTTP/2

    /// A request by curl to an origin that speaks HTTP/2 only.
    private static let http2Requests: [(path: String, words: [String])] = [
        ("/echo", ["--header", "X-A: 1", "--header", "x-b: 2"]),
        ("/echo", ["--data", "one order"]),
        ("/echo", ["--request", "DELETE"]),
        ("/echo", ["--cookie", "a=1; b=2"]),
        ("/length/echo", ["--data-binary", "@body"]),
        ("/echo", ["--upload-file", "body"]),
        ("/echo", ["--header", "Transfer-Encoding: chunked", "--upload-file", "body"]),
        ("/echo", ["--header", "Expect: 100-continue", "--data-binary", "@body"]),
        ("/length/echo", ["--head"]),
        ("/broken", ["--data-binary", "@body"]),
    ]

    /// The same client and the same origin speak HTTP/2 with each other, and each with Layover.
    @Test func http2ClientAndOriginSeeTheSameByLayover() async throws {
        let tools = try await Command(Fixtures.script("python-tools.sh"), ["http2"]).run(within: .seconds(120))
        try #require(tools.status == 0, "h2 is not installed: \(tools.errors)")
        let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
        let (files, output) = (try TemporaryFolder(), try TemporaryFolder())
        let authority = try await TestAuthority(in: files)
        try DirectBytes.first(3_000_000).write(to: files.file("body"))
        let layover = try await RunningLayover.start(
            """
            {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"},
             "routes": {"seen": {"host": "localhost", "intercept": true, "http2": true}}}
            """)
        let origin = try Command(python, ["-B", Fixtures.path("http2_origin.py"), authority.identity.certificate, authority.identity.key])
            .start(in: output)
        let port = try await FolderWatch(output.url).first("the origin listens") {
            if origin.hasEnded { throw ProcessError("The origin ended: \(origin.errors)") }
            return origin.output.split(separator: "\n").first.flatMap { Int($0) }
        }
        for request in Self.http2Requests {
            var logs: [[String]] = []
            for own in [nil, layover] as [RunningLayover?] {
                let before = try Self.http2Records(origin).count
                var command = Command(
                    "curl",
                    [
                        "--silent", "--http2", "--max-time", "30", "--output", "copy", "--write-out",
                        "%{http_code} %{http_version} %header{etag}",
                    ]
                        + request.words + ["https://localhost:\(port)\(request.path)"])
                let trusted = own.map { DirectRig.ownAuthority(of: $0) } ?? authority.certificate
                command = command.with(["CURL_CA_BUNDLE": trusted])
                if let own { command = command.with(["https_proxy": own.proxyURL]) }
                command.folder = files.url
                let result = try await command.run()
                let copy = (try? Data(contentsOf: files.file("copy"))) ?? Data()
                let isBroken = request.path == "/broken"
                // How much of a broken response has come is a race; that it is broken is not.
                let body = isBroken || request.words == ["--head"] ? "" : DirectLog.essence(copy)
                logs.append(
                    try Array(Self.http2Records(origin).dropFirst(before)) + ["ended with \(result.status): \(result.output) \(body)"])
            }
            #expect(logs[1] == logs[0], "\(request)")
        }
    }

    private static func http2Records(_ origin: RunningProcess) throws -> [String] {
        struct Record: Decodable {
            var path: String
            var method: String
            var bytes: Int
            var fields: [[String]]
        }

        return try origin.output.split(separator: "\n").dropFirst().map { line in
            let record = try JSONDecoder().decode(Record.self, from: Data(line.utf8))
            // The pseudo-fields come first in any order (RFC 9113 section 8.3), and crumbs of cookies may be joined (section 8.2.3).
            let pseudo = record.fields.filter { $0[0].hasPrefix(":") }.map { $0.joined(separator: " ") }.sorted()
            let cookie = record.fields.filter { $0[0] == "cookie" }.map { $0[1] }.joined(separator: "; ")
            // libcurl writes Expect before the fields of the request; the order of fields with different names means nothing (RFC 9110
            // section 5.3).
            let expect = record.fields.filter { $0[0] == "expect" }
            let others = record.fields.filter { !$0[0].hasPrefix(":") && !["cookie", "expect"].contains($0[0]) }.map {
                $0.joined(separator: ": ")
            }
            return "\(record.method) \(record.path) \(record.bytes) \(pseudo) cookie \(cookie) expect \(expect) "
                + DirectLog.essence((["fields"] + others).joined(separator: "\r\n"))
        }
    }

    // MARK: WebSockets

    /// Both peers compare every byte themselves, in both directions at once.
    @Test func webSocketsSeeTheSameByLayover() async throws {
        let tools = try await Command(Fixtures.script("python-tools.sh"), ["websocket"]).run(within: .seconds(120))
        try #require(tools.status == 0, "websockets is not installed: \(tools.errors)")
        let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
        let rig = try await DirectRig()
        for isSecure in [false, true] {
            let (output, port) = (try TemporaryFolder(), try ReservedPort())
            let identity = isSecure ? [rig.authority.identity.certificate, rig.authority.identity.key] : []
            let server = try Command(python, ["-B", Fixtures.path("websocket_peers.py"), "server", "\(port.number)"] + identity).start(
                in: output)
            _ = try await FolderWatch(output.url).first("the server listens") {
                if server.hasEnded { throw ProcessError("The server ended: \(server.errors)") }
                return server.output.contains("listens") ? true : nil
            }
            let layover = try #require(rig.layovers[.layover])
            // First without a proxy (nil), then by a tunnel, and with TLS by interception.
            let runs: [(proxy: String?, host: String, authority: String)] = [
                (nil, "127.0.0.1", rig.authority.certificate), (layover.proxyURL, "127.0.0.1", rig.authority.certificate),
                (layover.proxyURL, "localhost", isSecure ? DirectRig.ownAuthority(of: layover) : rig.authority.certificate),
            ]
            for (index, run) in runs.enumerated() {
                let url = "\(isSecure ? "wss" : "ws")://\(run.host):\(port.number)/chat"
                let result = try await Command(
                    python, ["-B", Fixtures.path("websocket_peers.py"), "client", url, run.proxy ?? "none", run.authority]
                ).run()
                #expect(result.output == "ok 1000\n", "\(url), \(run.proxy ?? "direct"): \(result)")
                _ = try await FolderWatch(output.url).first("the server has compared") {
                    server.output.components(separatedBy: "ok 1000\n").count == index + 2 ? true : nil
                }
            }
        }
    }
}
