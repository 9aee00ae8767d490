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

extension Assembly {
    /// Assembles the policy `default` first, then the others.
    ///
    /// A policy with the name of a built-in policy takes its missing values from that built-in policy. A policy with a new name
    /// takes them from `default`.
    mutating func assemblePolicies() {
        let standardName = Policy.standard.name
        let standard = policy(named: standardName, from: PolicySettings())
        policies[standardName] = standard
        let names = Set(Schema.builtInPolicies.keys).union(given.policyNames.keys)
        for name in names.sorted() where name != standardName {
            policies[name] = policy(named: name, from: Schema.builtInPolicies[name] ?? standard)
        }
    }

    private mutating func policy(named name: String, from base: PolicySettings) -> PolicySettings {
        var policy = base
        let errorCount = errors.count
        apply(Schema.policy, of: .policy(name), to: &policy)
        warnOfFormerAsync(.policy(name))
        // A policy with a refused value is not checked further: the checks could report the same mistake again.
        if errors.count == errorCount {
            checkDelay(policy.delay, of: name)
            checkLane(policy.lane, of: name)
            warnOfIdleRule(policy, of: name)
        }
        return policy
    }

    mutating func warnOfFormerAsync(_ section: KeyAddress.Section) {
        let address = KeyAddress(section: section, key: ["async"])
        guard let value = given[address]?.value, let rule = AsyncWord.former(value) else { return }
        warnings.append("\(address.path): \(value.excerpt) is the former spelling of \"\(rule.rawValue)\".")
    }

    /// Not an error: a limit may come from another layer tomorrow. Inherited rules are not warned of.
    private mutating func warnOfIdleRule(_ policy: PolicySettings, of name: String) {
        let address = KeyAddress(section: .policy(name), key: ["onExhausted"])
        guard given[address] != nil, policy.onExhausted != .fail, policy.automaticAttemptsMax == nil else {
            return
        }
        warnings.append("\(address.path): has no effect, because automaticAttemptsMax is null.")
    }

    /// A lane has the value of its field in its name, which is stored as it is and shown in lists.
    private mutating func checkLane(_ lane: LaneRule?, of name: String) {
        let address = KeyAddress(section: .policy(name), key: ["lane"])
        guard given[address] != nil, case .field(let field) = lane else { return }
        let kept = (settings.store.encryptFields + CredentialFields.sealedByDefault + [CredentialFields.ofProxy])
            .map { $0.lowercased() }
        guard kept.contains(field.lowercased()) else { return }
        refuse(address, "the value of \(field) is a secret, and the names of lanes are visible")
    }

    private mutating func checkDelay(_ delay: DelaySettings, of name: String) {
        func address(_ key: String) -> KeyAddress { KeyAddress(section: .policy(name), key: ["delay", key]) }
        for key in KeyNames.policy.members(of: ["delay"]) where !delay.meaningfulKeys.contains(key) {
            guard given[address(key)] != nil else { continue }
            refuse(address(key), "does not apply to the type \"\(delay.type.rawValue)\"")
        }
        if delay.type == .constant, delay.every == nil {
            refuse(address("type"), "\"constant\" needs delay.every")
        }
        if delay.type == .schedule, delay.delays?.isEmpty ?? true {
            refuse(address("type"), "\"schedule\" needs at least one duration in delay.delays")
        }
        let saysBoth = given[address("initial")] != nil && given[address("max")] != nil
        if delay.type == .exponential, saysBoth, delay.initial > delay.max {
            refuse(address("initial"), "is longer than delay.max")
        }
    }
}
