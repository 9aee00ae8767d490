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
    /// say otherwise; policies and routes are looked up again for each request, so they never do.
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
        secrecy: Key<PolicySettings>.Secrecy = .none, _ summary: String
    ) -> Key<PolicySettings> {
        Key(path, place, codec, standard: PolicySettings(), secrecy: secrecy, effect: .atOnce, summary)
    }

    static func routeKey<Value>(
        _ path: String, _ place: any WritableKeyPath<RouteSettings, Value> & Sendable, _ codec: Codec<Value>,
        secrecy: Key<RouteSettings>.Secrecy = .none, _ summary: String
    ) -> Key<RouteSettings> {
        Key(path, place, codec, standard: RouteSettings(), secrecy: secrecy, effect: .atOnce, summary)
    }
}

extension Schema {
    static let proxyKeys: [Key<Settings>] = [
        key(
            "proxy.publicURL", \.proxy.publicURL, publicURL.orNull,
            "URL by which clients reach the proxy, for the addresses of tickets, in responses of routes, and, if it has no path, in "
                + "`/proxy.pac`. Its host is accepted like `proxy.allowedHosts`. "
                + "null: the address that the client used."),
        key(
            "proxy.listen", \.proxy.listen, .listen(standard: "127.0.0.1:8080"),
            "Address that clients connect to. Port 0 picks a free port; `unix:/path` is a Unix domain socket."),
        key(
            "proxy.identity", \.proxy.identity, identity,
            "Name of the proxy in `Via` and `Proxy-Status`."),
        key(
            "proxy.threads", \.proxy.threads, Codec.integer(1...1024).orNull,
            "Number of event loops, and of upstream workers. null: one per core."),
        key(
            "proxy.upstream", \.proxy.upstream, .word,
            "Who carries HTTP/1.1 exchanges with origins. direct: the proxy itself. libcurl: transfers of libcurl, at about twice the "
                + "cost."),
        key(
            "proxy.allowedHosts", \.proxy.allowedHosts, Codec.host.list,
            "Hosts accepted in requests to the proxy itself, whatever the port. "
                + "The address and port that the client connected to are always accepted."),
        key(
            "proxy.socketMode", \.proxy.socketMode, Codec.permissions.orNull,
            "Permissions of the Unix domain socket. null: from the umask."),
        key(
            "proxy.users", \.proxy.users, .users, secrecy: .whole, effect: .atOnce,
            "Names and password hashes (yescrypt or bcrypt) of those who may use the proxy; `layover user add` writes them. "
                + "Empty: everybody who can connect. Required if `proxy.listen` is not a loopback address."),
        key(
            "proxy.connectPorts", \.proxy.connectPorts, Codec.integer(1...65535).list,
            "Ports that clients on other machines may CONNECT to."),
        key(
            "proxy.insecureOpen", \.proxy.insecureOpen, .flag,
            "Allows clients on other machines without authentication."),
        key(
            "proxy.tls.certificate", \.proxy.tls.certificate, Codec.path.orNull,
            "PEM file of the certificate, and those that lead to its authority, by which clients speak TLS to the proxy itself. "
                + "A reload reads the file again. null: they speak without."),
        key(
            "proxy.tls.key", \.proxy.tls.key, Codec.path.orNull,
            "PEM file of the certificate's private key, without a password."),
    ]

    static let adminKeys: [Key<Settings>] = [
        key(
            "admin.listen", \.admin.listen, .listen(standard: "127.0.0.1:8081"),
            "Address of the admin API. `unix:/path` is a Unix domain socket that only its owner can use (0600). "
                + "Another address other than loopback requires `admin.token`."),
        key(
            "admin.token", \.admin.token, .secret, secrecy: .whole,
            "Bearer token required in every call. null: no token required."),
        key(
            "admin.viewToken", \.admin.viewToken, .secret, secrecy: .whole,
            "Bearer token for calls that only read; bodies stay masked. Requires `admin.token`. null: none."),
        key(
            "admin.allowedHosts", \.admin.allowedHosts, Codec.host.list,
            "Hosts accepted in admin requests, whatever the port."),
    ]

    /// Every client sees it in the address of its ticket.
    private static let publicURL = Codec<ProxySettings.PublicURL>.text("URL", isSecret: true, write: \.base) {
        (text) throws(Refusal) in
        let url = try WebAddress.parse(text)
        guard url.userinfo == nil else {
            throw Refusal(message: "the URL must not contain a user name (clients can see it)")
        }
        guard url.query == nil else { throw Refusal(message: "the URL must not contain a query") }
        return ProxySettings.PublicURL(
            origin: Origin(scheme: url.scheme, host: url.host, port: url.port), path: url.path)
    }

    /// A pseudonym of `Via` (RFC 9110 section 7.6.3) that is also a token of RFC 8941, for
    /// `Proxy-Status`.
    private static let identity = Codec<String>.token("name")
        .allowing(
            { $0.first?.isLetter == true && $0.utf8.count <= 64 },
            orElse: "must begin with a letter and have at most 64 characters")
}
