package import LayoverCore
package import LayoverEngine
package import Logging

/// What the admin API reads and steers.
package struct AdminSources: Sendable {
    package var engine: Engine
    /// Where the bodies of tickets lie that are too big for the store. Nil: no body is shown.
    package var spool: BodySpool?
    /// The cache for reading offline. A reload may open it. Default: none.
    package var cache: @Sendable () -> (any ResponseCache)? = { nil }
    /// One for each event loop of the proxy.
    package var metrics: [LoopMetrics] = []
    /// The open connections to origins, but for those of tunnels. Default: none.
    package var connectionCounts: @Sendable () async -> [Origin: ConnectionCount] = { [:] }
    /// Limits outside the engine. Default: none.
    package var limits: @Sendable () -> [LimitUse] = { [] }
    /// The addresses of the proxy as URLs, `http://127.0.0.1:8080`. Default: none.
    package var proxyURLs: @Sendable () -> [String] = { [] }
    /// Whether clients reach the proxy by each address of this machine. Default: no.
    package var isOnAllAddresses = false
    /// The public URL of the proxy, the same for all clients. Nil: no such URL is configured, or it has a path.
    package var publicProxyURL: String?
    /// Whether clients of the proxy have to name a user. Default: no.
    package var asksForUser: @Sendable () -> Bool = { false }
    /// The use of interception. Nil: no connection is intercepted. Default: nil.
    package var interception: @Sendable () -> InterceptionUse? = { nil }
    /// Whether the process is being stopped. Default: no.
    package var isDraining: @Sendable () -> Bool = { false }
    /// Log lines that could not be written, since the start. Default: none.
    package var droppedLogLineCount: @Sendable () -> Int = { 0 }
    /// Begins to stop the process, as SIGTERM does; returns at once. Nil: the API cannot stop the process.
    package var drain: (@Sendable () -> Void)?
    /// Reloads the configuration, as SIGHUP does, and returns the result. Nil: the API cannot reload.
    package var reload: (@Sendable () async -> ReloadReport)?
    /// Every key of the configuration that is in force, secrets masked. Nil: the API does not show the configuration.
    package var configuration: (@Sendable () -> [ConfigurationValue])?
    /// Sends a request of a batch through the proxy port. Nil: the API takes no batches.
    package var send: (@Sendable (BatchItem) async -> BatchOutcome)?

    /// Returns after that time, or when the request is cancelled. Default: as long as it says.
    package var pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    /// Gets a line for each command. Nil: commands are not logged.
    package var logger: Logger?

    package init(engine: Engine) { self.engine = engine }
}

/// A limit and how much of it is used.
package struct LimitUse: Sendable {
    /// The name under `limits` in the configuration.
    package var name: String
    package var max: Int
    /// How much of the limit is used. Nil: the use is not counted.
    package var used: Int?

    package init(name: String, max: Int, used: Int? = nil) {
        self.name = name
        self.max = max
        self.used = used
    }
}

/// The authority of interception, and counts of connections.
package struct InterceptionUse: Codable, Sendable {
    /// SHA-256 of the authority's certificate, in hexadecimal.
    package var authority: String
    /// Connections of clients whose TLS ended here, since the start.
    package var connections: Int
    /// Those that may have been ended because of the certificate.
    package var rejections: Int
    /// Connections that became tunnels because of earlier rejections (`interceptFallback`).
    package var fallbacks: Int
    /// Hosts whose clients have rejected the certificate within the last hour.
    package var rejectingHosts: [String]

    package init(authority: String, connections: Int, rejections: Int, fallbacks: Int, rejectingHosts: [String]) {
        self.authority = authority
        self.connections = connections
        self.rejections = rejections
        self.fallbacks = fallbacks
        self.rejectingHosts = rejectingHosts
    }
}

/// A key of the configuration with the value that is in force, as `/v1/config` shows it.
package struct ConfigurationValue: Sendable {
    /// Dotted: `policies.default.holdMax`.
    package var key: String
    /// JSON text, as in a file. Secrets are masked already.
    package var value: String
    /// The source of the value: for example `default`, `command line`, or the name of a file or of a variable.
    package var source: String

    package init(key: String, value: String, source: String) {
        self.key = key
        self.value = value
        self.source = source
    }
}
