import LayoverCore

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
