import LayoverCore

/// Makes settings of what was given, and collects all that is wrong with it.
struct Assembly {
    let given: GivenValues
    var errors: [ConfigurationError]
    var warnings: [String]
    private(set) var settings = Settings()
    /// By name, in the file's own terms.
    var policies: [String: PolicySettings] = [:]
    var routes: [String: RouteSettings] = [:]

    init(_ given: GivenValues) {
        self.given = given
        errors = given.errors
        warnings = given.warnings
    }

    /// - Parameter folder: The folder of the configuration file.
    mutating func run(folder: String) {
        var settings = Settings()
        apply(Schema.global, of: .global, to: &settings)
        self.settings = settings
        assemblePolicies()
        assembleRoutes()
        warnOfPlainSecrets()
        checkListeners()
        checkRouteKeys()
        checkNotifications()
        self.settings.routes = table()
        self.settings.resolvePaths(in: folder)
    }

    /// Puts every value that was given for these keys into its place.
    mutating func apply<Root>(_ keys: [Key<Root>], of section: KeyAddress.Section, to root: inout Root) {
        for key in keys {
            let address = KeyAddress(section: section, key: key.path)
            guard let value = given[address] else { continue }
            do {
                try key.assign(value.value, &root)
            } catch {
                refuse(address.path + error.place, error.message, by: value.source)
            }
        }
    }

    private mutating func assembleRoutes() {
        for name in given.routeNames.keys.sorted() {
            var route = RouteSettings()
            apply(Schema.route, of: .route(name), to: &route)
            warnOfFormerAsync(.route(name))
            routes[name] = route
            checkPolicy(of: route, named: name)
            if route.intercept, route.host == nil {
                refuse(
                    KeyAddress(section: .route(name), key: ["intercept"]),
                    "needs a host: every host must be named before it is intercepted")
            }
            if route.interceptFallback, !route.intercept {
                refuse(KeyAddress(section: .route(name), key: ["interceptFallback"]), "needs intercept")
            }
        }
        checkOverlaps()
    }

    private mutating func checkPolicy(of route: RouteSettings, named name: String) {
        guard policies[route.policy] == nil else { return }
        let address = KeyAddress(section: .route(name), key: ["policy"])
        let shown = JSONValue.text(route.policy).excerpt
        let nearest = NearestName.of(route.policy, among: Array(policies.keys))
        refuse(address, "no policy is named \(shown)" + (nearest.map { " (did you mean \($0)?)" } ?? ""))
    }

    private func table() -> RouteTable {
        let unattended = settings.timeouts.unattended
        let made = policies.reduce(into: [String: Policy]()) { $0[$1.key] = $1.value.policy(named: $1.key, unattended: unattended) }
        return RouteTable(
            policies: made,
            routes: routes.map { name, route in
                route.route(named: name, policy: made[route.policy] ?? .standard)
            },
            webhook: settings.notify.route, parentProxies: settings.upstreamProxy.rules)
    }

    mutating func refuse(_ path: String, _ message: String, by source: ValueSource) {
        errors.append(ConfigurationError(source: source.description, path: path, message: message))
    }

    /// Refuses in the name of whoever gave the value.
    mutating func refuse(_ address: KeyAddress, _ message: String) {
        refuse(address.path, message, by: given[address]?.source ?? .standard)
    }
}
