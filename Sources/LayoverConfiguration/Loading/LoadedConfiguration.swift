import LayoverCore

/// A configuration that can be started from.
package struct LoadedConfiguration: Sendable {
    package let settings: Settings
    /// Every key with its value and its source, in the order of the documentation;
    /// policies and routes by name.
    package let entries: [ConfigurationEntry]
    /// One line each. They keep nothing from starting.
    package let warnings: [String]
    /// By name, in the file's terms, so that a reload can compare key by key.
    let policies: [String: PolicySettings]
    let routes: [String: RouteSettings]

    /// The source of each value, by dotted path.
    package var sources: [String: ValueSource] {
        Dictionary(entries.map { ($0.path, $0.source) }, uniquingKeysWith: { first, _ in first })
    }
}

extension LoadedConfiguration {
    /// The same for the private proxy of one command: on free ports of this machine, without tickets, with its files in a folder of
    /// its own.
    ///
    /// Routes, policies, limits and the way out stay as they are. What protects or announces a proxy that others use is left out: users,
    /// TLS on the port, tokens, notifications, the access log.
    ///
    /// - Parameters:
    ///   - folder: It belongs to this proxy alone.
    ///   - name: The policy of all requests, whatever their routes say. Nil: that of their routes.
    package func forOneCommand(in folder: String, policy name: String?) throws(ConfigurationErrors) -> LoadedConfiguration {
        let usual = Settings()
        var settings = settings
        settings.proxy.listen = .tcp(host: "127.0.0.1", port: 0)
        settings.proxy.socketMode = nil
        settings.proxy.publicURL = nil
        settings.proxy.allowedHosts = usual.proxy.allowedHosts
        settings.proxy.users = [:]
        settings.proxy.tls = usual.proxy.tls
        settings.proxy.insecureOpen = false
        settings.proxy.threads = settings.proxy.threads ?? Self.threadCount
        settings.admin = usual.admin
        settings.admin.listen = .tcp(host: "127.0.0.1", port: 0)
        // The authority stays the user's own: a new one for each command would have to be trusted each time.
        settings.tls.folder = settings.tls.folder ?? settings.store.folder
        settings.store = usual.store
        settings.store.standardFolder = folder
        settings.store.isOnDisk = false
        settings.log.level = .warning
        settings.log.access = .off
        settings.timeouts.drain = .zero
        settings.notify = usual.notify
        if let name { settings.routes = try Self.routes(settings.routes, all: name) }
        return LoadedConfiguration(
            settings: settings, entries: entries, warnings: warnings, policies: policies, routes: routes)
    }

    /// Event loops, if the configuration does not say. A single command seldom needs more, and starts sooner.
    private static let threadCount = 2

    private static func routes(_ table: RouteTable, all name: String) throws(ConfigurationErrors) -> RouteTable {
        guard let policy = table.policies[name] else {
            let nearest = NearestName.of(name, among: Array(table.policies.keys))
            let message = "no policy is named \(JSONValue.text(name).excerpt)" + (nearest.map { " (did you mean \($0)?)" } ?? "")
            throw ConfigurationErrors(errors: [ConfigurationError(source: "command line", path: "--policy", message: message)])
        }
        let routes = table.routes.map { route in
            var route = route
            route.policy = policy
            return route
        }
        return RouteTable(
            policies: table.policies.merging([Policy.standard.name: policy]) { $1 }, routes: routes, parentProxies: table.parentProxies)
    }
}

extension LoadedConfiguration {
    /// The same, which intercepts more hosts than its routes say.
    ///
    /// - Parameter hosts: `api.example.com` or `*.example.com`, as `routes.<name>.host`.
    /// - Throws: A line for each that is no host.
    package func intercepting(_ hosts: [String]) throws(ConfigurationErrors) -> LoadedConfiguration {
        guard !hosts.isEmpty else { return self }
        var patterns: [Route.HostPattern] = []
        var errors: [ConfigurationError] = []
        for host in hosts {
            do throws(Refusal) {
                patterns.append(try Codec<Route.HostPattern>.hostPattern.read(.text(host)))
            } catch {
                errors.append(ConfigurationError(source: "command line", path: "--intercept", message: error.message))
            }
        }
        guard errors.isEmpty else { throw ConfigurationErrors(errors: errors) }
        var settings = settings
        settings.routes = settings.routes.intercepting(patterns)
        return LoadedConfiguration(settings: settings, entries: entries, warnings: warnings, policies: policies, routes: routes)
    }
}

extension LoadedConfiguration {
    /// The same, with the store in this folder if `store.path` is null.
    package func storing(in folder: String) -> LoadedConfiguration {
        var settings = settings
        settings.store.standardFolder = folder
        return LoadedConfiguration(
            settings: settings, entries: entries, warnings: warnings, policies: policies, routes: routes)
    }

    /// The same, with one more warning.
    package func warning(_ text: String) -> LoadedConfiguration {
        LoadedConfiguration(
            settings: settings, entries: entries, warnings: warnings + [text], policies: policies, routes: routes)
    }
}
