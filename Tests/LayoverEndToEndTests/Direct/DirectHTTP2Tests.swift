import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd.Direct {
    /// Output of `http2_scenes.py` for a scene: the events at both ends, line by line.
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

    /// Output of a Python script, one value for each line. Its arguments are the port and the authority of a Layover
    /// whose origin speaks HTTP/1.1, those of one whose origin speaks HTTP/2, and the certificates of the origins.
    private static func output<Line: Decodable>(of script: String, readsAuthority: Bool) async throws -> [Line] {
        let tools = try await Command(Fixtures.script("python-tools.sh"), ["http2"]).run(within: .seconds(120))
        try #require(tools.status == 0, "h2 is not installed: \(tools.errors)")
        let python = tools.output.trimmingCharacters(in: .whitespacesAndNewlines) + "/bin/python"
        let files = try TemporaryFolder()
        let authority = try await TestAuthority(in: files)
        var words = ["-B", Fixtures.path(script)]
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
        words += (readsAuthority ? [authority.certificate] : []) + [authority.identity.certificate, authority.identity.key]
        let result = try await Command(python, words).succeed(within: .seconds(180))
        withExtendedLifetime((layovers, files)) {}
        return try result.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test func http2ClientSeesTheSameByLayover() async throws {
        let scenes: [HTTP2Scene] = try await Self.output(of: "http2_scenes.py", readsAuthority: true)
        #expect(scenes.count == 24, "each scene is played to its end")
        for scene in scenes {
            #expect(scene.http1 == scene.direct, "\(scene.name), origin by HTTP/1.1")
            let difference = Self.http2Differences[scene.name]
            if let difference { #expect(scene.direct.contains(difference.direct), "the listed difference is needed") }
            let expected = scene.direct.map { $0 == difference?.direct ? difference?.byLayover ?? $0 : $0 }
            #expect(scene.http2 == expected, "\(scene.name), origin by HTTP/2")
        }
    }

    /// Output of `http2_withheld.py`.
    private struct WithheldEnd: Decodable {
        var name: String
        /// Parts of the response that the client had while the origin read nothing.
        var early: [String]
        /// Parts of the response that the client got afterwards.
        var late: [String]
        /// True if the origin got the whole request.
        var isWhole: Bool
    }

    /// END_STREAM of a success comes once its request is sent (decision 68).
    @Test func http2ClientGetsTheEndOfASuccessOnceItsRequestIsSent() async throws {
        let runs: [WithheldEnd] = try await Self.output(of: "http2_withheld.py", readsAuthority: false)
        #expect(runs.map(\.name) == ["http/1.1, whole", "http/1.1, cut", "h2, whole", "h2, cut"])
        for run in runs {
            let isWhole = run.name.hasSuffix("whole")
            #expect(run.early == ["200", "ok"], "\(run.name)")
            #expect(run.late == [isWhole ? "end" : "reset INTERNAL_ERROR"], "\(run.name)")
            #expect(run.isWhole == isWhole, "\(run.name)")
        }
    }
}
