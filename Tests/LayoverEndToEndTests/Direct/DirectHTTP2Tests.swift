import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd.Direct {
    /// What `http2_scenes.py` prints of a scene: what both ends saw, line by line.
    private struct HTTP2Scene: Decodable {
        var name: String
        /// Without a proxy; the origin speaks HTTP/2.
        var direct: [String]
        /// By Layover, whose origin speaks HTTP/1.1.
        var http1: [String]
        /// By Layover with `http2` of the route.
        var http2: [String]
    }

    /// Lines that are other ones with `http2` of the route, by the scene.
    private static let http2Differences: [String: (direct: String, byLayover: String)] = [
        // libcurl sends the trailers of a chunked body only, and HTTP/2 has no chunks (CURLOPT_TRAILERFUNCTION(3)).
        "trailers both ways": ("origin: 3 bytes ba7816bf8f01cfea x-sum: 1", "origin: 3 bytes ba7816bf8f01cfea")
    ]

    @Test func http2ClientSeesTheSameByLayover() async throws {
        let tools = try await Command(Fixtures.script("python-tools.sh"), ["http2"]).run(within: .seconds(120))
        try #require(tools.status == 0, "h2 is not installed: \(tools.errors)")
        let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
        let files = try TemporaryFolder()
        let authority = try await TestAuthority(in: files)
        var words = ["-B", Fixtures.path("http2_scenes.py")]
        var layovers: [RunningLayover] = []
        for isHTTP2 in [false, true] {
            let layover = try await RunningLayover.start(
                """
                {"tls": {"caFile": "\(authority.certificate)", "folder": "authority"},
                 "routes": {"seen": {"host": "localhost", "intercept": true, "http2": \(isHTTP2)}}}
                """)
            words += ["\(layover.proxyPort)", DirectRig.ownAuthority(of: layover)]
            layovers.append(layover)
        }
        words += [authority.certificate, authority.identity.certificate, authority.identity.key]
        let result = try await Command(python, words).succeed(within: .seconds(90))
        let scenes = try result.output.split(separator: "\n").map { try JSONDecoder().decode(HTTP2Scene.self, from: Data($0.utf8)) }
        #expect(scenes.count == 21, "each scene is played to its end: \(result.errors)")
        for scene in scenes {
            #expect(scene.http1 == scene.direct, "\(scene.name), origin by HTTP/1.1")
            let difference = Self.http2Differences[scene.name]
            if let difference { #expect(scene.direct.contains(difference.direct), "the listed difference is needed") }
            let expected = scene.direct.map { $0 == difference?.direct ? difference?.byLayover ?? $0 : $0 }
            #expect(scene.http2 == expected, "\(scene.name), origin by HTTP/2")
        }
        withExtendedLifetime(layovers) {}
    }
}
