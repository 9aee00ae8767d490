import LayoverCore

/// Every key of the configuration.
enum Schema {
    /// Keys that stand alone, by their whole path.
    static let global: [Key<Settings>] =
        proxyKeys + adminKeys + logKeys + storeKeys + limitKeys + timeoutKeys
        + reachabilityKeys + upstreamKeys + notifyKeys

    /// Keys below `policies.<name>`.
    static let policy: [Key<PolicySettings>] = policyRules + delayKeys + orderKeys

    /// Keys below `routes.<name>`.
    static let route: [Key<RouteSettings>] = routeKeys

    static let policySection = "policies"
    static let routeSection = "routes"

    /// Built-in policies besides `default`, by name, in the file's terms.
    static let builtInPolicies: [String: PolicySettings] = Policy.builtIns
        .filter { $0.name != Policy.standard.name }
        .reduce(into: [:]) { $0[$1.name] = PolicySettings($1) }

    /// Environment variables of the command line itself.
    static let foreignEnvironmentNames: Set<String> = [
        "LAYOVER_ADMIN_URL", "LAYOVER_TOKEN", "LAYOVER_CONFIG", "LAYOVER_PROXY_URL",
    ]

    /// Shorthands that spare every line of the table its defaults. Global keys need a restart unless they
    /// say otherwise; policies and routes are looked up anew for each request, so they never do.
    static func key<Value>(
        _ path: String, _ place: any WritableKeyPath<Settings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<Settings>.Availability = .now, secrecy: Key<Settings>.Secrecy = .none,
        effect: ReloadEffect = .afterRestart, _ summary: String
    ) -> Key<Settings> {
        Key(
            path, place, codec, standard: Settings(), available: available, secrecy: secrecy, effect: effect,
            summary)
    }

    static func policyKey<Value>(
        _ path: String, _ place: any WritableKeyPath<PolicySettings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<PolicySettings>.Availability = .now,
        secrecy: Key<PolicySettings>.Secrecy = .none, _ summary: String
    ) -> Key<PolicySettings> {
        Key(
            path, place, codec, standard: PolicySettings(), available: available, secrecy: secrecy,
            effect: .atOnce, summary)
    }

    static func routeKey<Value>(
        _ path: String, _ place: any WritableKeyPath<RouteSettings, Value> & Sendable, _ codec: Codec<Value>,
        available: Key<RouteSettings>.Availability = .now,
        secrecy: Key<RouteSettings>.Secrecy = .none, _ summary: String
    ) -> Key<RouteSettings> {
        Key(
            path, place, codec, standard: RouteSettings(), available: available, secrecy: secrecy,
            effect: .atOnce, summary)
    }
}
