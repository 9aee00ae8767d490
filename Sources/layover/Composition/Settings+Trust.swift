import LayoverConfiguration
import LayoverCore

extension Settings {
    /// Whether the proxy speaks TLS to origins in place of clients, so that its trust counts instead of theirs.
    var verifiesOrigins: Bool {
        routes.hasInterceptions || routes.routes.contains { $0.upstream?.origin.scheme == .https }
    }
}
