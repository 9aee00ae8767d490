/// Every key of the configuration.
enum Schema {
    /// Keys that stand alone, by their whole path.
    static let global: [Key<Settings>] =
        proxyKeys + adminKeys + logKeys + storeKeys + limitKeys + timeoutKeys
        + reachabilityKeys + upstreamKeys

    /// Keys below `policies.<name>`.
    static let policy: [Key<PolicySettings>] = policyRules + delayKeys + laterPolicyKeys

    /// Keys below `routes.<name>`.
    static let route: [Key<RouteSettings>] = routeKeys

    static let policySection = "policies"
    static let routeSection = "routes"

    /// Built-in policies that this version does not have.
    static let laterPolicyNames: Set<String> = ["ask", "outbox", "sidecar", "ratelimited", "ai"]

    /// Environment variables of the command line itself.
    static let foreignEnvironmentNames: Set<String> = [
        "LAYOVER_ADMIN_URL", "LAYOVER_TOKEN", "LAYOVER_CONFIG",
    ]

    /// Shorthands that spare every line of the table its defaults.
    static func key<Value>(
        _ path: String, _ place: any WritableKeyPath<Settings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<Settings>.Availability<Value> = .now, secrecy: Key<Settings>.Secrecy = .none,
        _ summary: String
    ) -> Key<Settings> {
        Key(path, place, codec, standard: Settings(), available: available, secrecy: secrecy, summary)
    }

    static func policyKey<Value>(
        _ path: String, _ place: any WritableKeyPath<PolicySettings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<PolicySettings>.Availability<Value> = .now, _ summary: String
    ) -> Key<PolicySettings> {
        Key(path, place, codec, standard: PolicySettings(), available: available, summary)
    }

    static func routeKey<Value>(
        _ path: String, _ place: any WritableKeyPath<RouteSettings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<RouteSettings>.Availability<Value> = .now,
        secrecy: Key<RouteSettings>.Secrecy = .none, _ summary: String
    ) -> Key<RouteSettings> {
        Key(path, place, codec, standard: RouteSettings(), available: available, secrecy: secrecy, summary)
    }
}
