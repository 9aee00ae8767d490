extension LoadedConfiguration {
    /// What changes when the new configuration replaces this one. Secrets are compared and not shown.
    package func changes(to new: LoadedConfiguration) -> ConfigurationChanges {
        let ofPolicies = Self.changes(Schema.policy, from: policies, to: new.policies) { .policy($0) }
        let ofRoutes = Self.changes(Schema.route, from: routes, to: new.routes) { .route($0) }
        return ConfigurationChanges(
            Self.changes(Schema.global, of: .global, from: settings, to: new.settings) + ofPolicies + ofRoutes
        )
    }

    /// The configuration in force once the new one was loaded into a running process: the new one's keys that take
    /// effect at once, and this one's keys that need a restart.
    ///
    /// Compare the next reload with the result, so that what still needs a restart is said again.
    ///
    /// - Throws: What the new routes and users lack on the listener that is open, whatever address the next start will take.
    package func reloaded(as new: LoadedConfiguration) throws(ConfigurationErrors) -> LoadedConfiguration {
        var errors = new.routes.sorted { $0.key < $1.key }.compactMap { name, route in
            route.complaint(on: settings.proxy.listen).map { complaint in
                let path = KeyAddress(section: .route(name), key: ["key"]).path
                let source = new.sources[path] ?? .standard
                return ConfigurationError(source: source.description, path: path, message: complaint)
            }
        }
        if !settings.proxy.listen.isLoopback, !settings.proxy.insecureOpen, new.settings.proxy.users.isEmpty {
            let source = new.sources["proxy.users"] ?? .standard
            let message = ProxySettings.needsUsers(settings.proxy.listen)
            errors.append(ConfigurationError(source: source.description, path: "proxy.users", message: message))
        }
        guard errors.isEmpty else { throw ConfigurationErrors(errors: errors) }
        var inForce = settings
        inForce.routes = new.settings.routes
        for key in Schema.global where key.effect == .atOnce { key.copy(new.settings, &inForce) }
        let restartPaths = Set(Schema.global.filter { $0.effect == .afterRestart }.map(\.path))
        let kept = entries.filter { restartPaths.contains($0.parts) }
        let keptByPath = Dictionary(kept.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        return LoadedConfiguration(
            settings: inForce, entries: new.entries.map { keptByPath[$0.path] ?? $0 }, warnings: new.warnings,
            policies: new.policies, routes: new.routes)
    }

    private static func changes<Root>(
        _ keys: [Key<Root>], of section: KeyAddress.Section, from old: Root, to new: Root
    ) -> [(path: String, effect: ReloadEffect)] {
        keys.filter { !$0.isSame(old, new) }
            .map { (KeyAddress(section: section, key: $0.path).path, $0.effect) }
    }

    private static func changes<Root>(
        _ keys: [Key<Root>], from old: [String: Root], to new: [String: Root],
        in section: (String) -> KeyAddress.Section
    ) -> [(path: String, effect: ReloadEffect)] {
        Set(old.keys).union(new.keys).flatMap { name -> [(path: String, effect: ReloadEffect)] in
            let section = section(name)
            guard let before = old[name], let after = new[name] else {
                return [(section.path.joined(separator: "."), .atOnce)]
            }
            return changes(keys, of: section, from: before, to: after)
        }
    }
}

/// What a newly loaded configuration changes, and when each change takes effect.
///
/// Both lists are dotted paths, sorted. A policy or a route that came or went is named as a whole:
/// `routes.api`. A policy that inherits a changed key is listed too, because its rules change.
package struct ConfigurationChanges: Sendable, Hashable {
    /// Takes effect with the reload: policies, routes, the timeouts of attempts, the log level.
    package let atOnce: [String]
    /// Keys that keep their values until the process starts again.
    package let afterRestart: [String]

    /// Whether both configurations say the same.
    package var isEmpty: Bool { atOnce.isEmpty && afterRestart.isEmpty }

    init(_ changes: [(path: String, effect: ReloadEffect)]) {
        func paths(_ effect: ReloadEffect) -> [String] {
            changes.filter { $0.effect == effect }.map(\.path).sorted()
        }
        atOnce = paths(.atOnce)
        afterRestart = paths(.afterRestart)
    }
}
