import Foundation
import LayoverTestSupport

/// A proxy that intercepts `localhost`, and an origin there that a private authority vouches for.
final class InterceptionScene {
    let scene: Scene
    let authority: TestAuthority

    /// - Parameters:
    ///   - hosts: Further hosts to intercept.
    ///   - users: `proxy.users`.
    ///   - more: Further keys of the configuration.
    init(hosts: [String] = [], users: String = "{}", with more: String = "") async throws {
        let root = try TemporaryFolder()
        authority = try await TestAuthority(in: root)
        let routes = hosts.enumerated().map { #""more\#($0)": {"host": "\#($1)", "intercept": true}, "# }.joined()
        let layover = try await RunningLayover.start(
            """
            {\(more)"tls": {"caFile": "\(authority.certificate)", "folder": "authority"}, "proxy": {"users": \(users)},
             "policies": {"default": {"cache": "staleIfError", "retryOn": ["connectivity", "503"],
                                      "delay": {"type": "constant", "every": "100ms", "jitter": "none"}}},
             "routes": {\(routes)"seen": {"host": "localhost", "intercept": true}}}
            """)
        scene = Scene(layover: layover, root: root, port: try ReservedPort())
    }

    /// The same, and an origin that is there from the start.
    static func withOrigin(
        hosts: [String] = [], users: String = "{}", with more: String = ""
    ) async throws -> (InterceptionScene, RunningOrigin) {
        let test = try await InterceptionScene(hosts: hosts, users: users, with: more)
        return (test, try await test.scene.startOrigin(test.authority.identity))
    }

    var ownAuthority: String { scene.layover.folder.file("authority/ca.pem").path }

    func curl(_ path: String, _ more: String...) -> Command {
        var command = scene.layover.client("curl", "--silent", "--show-error", "--cacert", ownAuthority, scene.secureURL(path))
        command.arguments += more
        return command
    }

    /// Output of `tunnel_client.py`.
    struct TunnelClient: Sendable, Codable {
        var version: String
        var `protocol`: String?
        var names: [String]
        var status: Int?
        var body: String?
        var end: String?
    }

    /// A client that speaks TLS through CONNECT, by default to `localhost` at the origin's port.
    ///
    /// - Parameter authority: The authority that the client trusts. Default (nil): Layover's.
    func tunnelClient(_ words: [String], to target: String? = nil, authority: String? = nil) async throws -> TunnelClient {
        let fixed = [
            "-B", Fixtures.path("tunnel_client.py"), "--proxy", "\(scene.layover.proxyPort)", "--ca", authority ?? ownAuthority,
            "--connect", target ?? "localhost:\(scene.port.number)",
        ]
        let result = try await Command("/usr/bin/python3", fixed + words).succeed(within: .seconds(30))
        return try JSONDecoder().decode(TunnelClient.self, from: Data(result.output.utf8))
    }
}
