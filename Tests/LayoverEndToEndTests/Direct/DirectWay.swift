import LayoverTestSupport

/// How a client reaches its origin.
enum DirectWay: Sendable, CaseIterable {
    /// HTTP without TLS.
    case plain
    /// TLS inside of CONNECT, which Layover passes on as it is.
    case tunnel
    /// TLS inside of CONNECT, which ends in Layover; Layover has TLS of its own with the origin.
    case interception
    /// A client without TLS whose target begins with `https://`.
    case secureTarget

    var isOriginSecure: Bool { self != .plain }

    /// The origin's name. Layover intercepts `localhost` and nothing else.
    var host: String { self == .interception ? "localhost" : "127.0.0.1" }
}

/// A way by one running Layover.
struct DirectPassage: Sendable {
    var way: DirectWay
    var path: DirectPath
    var proxyPort: Int
    /// TLS of the client; nil: it has none.
    var tls: TLSSettings?
}

/// Two running Layovers, one for each path, and what clients and origins with TLS need.
struct DirectRig: Sendable {
    let authority: TestAuthority
    let layovers: [DirectPath: RunningLayover]
    let originTLS: TLSSettings
    /// Trusts the origin's authority.
    let clientTLS: TLSSettings
    private let trusting: [DirectPath: TLSSettings]
    private let folder: TemporaryFolder

    /// - Parameter clientIdle: `timeouts.clientIdle`. Default: the default of the configuration.
    init(clientIdle: String = "60s") async throws {
        folder = try TemporaryFolder()
        let authority = try await TestAuthority(in: folder)
        let configuration = """
            {"timeouts": {"clientIdle": "\(clientIdle)"}, "tls": {"caFile": "\(authority.certificate)", "folder": "authority"},
             "routes": {"seen": {"host": "localhost", "intercept": true}}}
            """
        let layover = try await RunningLayover.start(configuration)
        let libcurl = try await RunningLayover.$upstream.withValue("libcurl") { try await RunningLayover.start(configuration) }
        self.authority = authority
        layovers = [.layover: layover, .libcurl: libcurl]
        originTLS = try TLSSettings(certificate: authority.identity.certificate, key: authority.identity.key)
        clientTLS = try TLSSettings(trusting: authority.certificate)
        trusting = [
            .layover: try TLSSettings(trusting: Self.ownAuthority(of: layover)),
            .libcurl: try TLSSettings(trusting: Self.ownAuthority(of: libcurl)),
        ]
    }

    /// The authority by which Layover intercepts.
    static func ownAuthority(of layover: RunningLayover) -> String { layover.folder.file("authority/ca.pem").path }

    /// Returns nil if the scene is not played this way: Layover treats a tunnel in the same way on both paths.
    func passage(_ way: DirectWay, _ path: DirectPath) -> DirectPassage? {
        guard let layover = layovers[path], way != .tunnel || path == .layover else { return nil }
        let tls: TLSSettings? =
            switch way {
            case .plain, .secureTarget: nil
            case .tunnel: clientTLS
            case .interception: trusting[path]
            }
        return DirectPassage(way: way, path: path, proxyPort: layover.proxyPort, tls: tls)
    }
}
