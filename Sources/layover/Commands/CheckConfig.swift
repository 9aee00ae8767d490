import ArgumentParser
import LayoverConfiguration
import LayoverCore

/// `layover check-config`: checks whether `run` would start with this configuration.
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config", abstract: "Check the configuration without starting the proxy.",
        discussion: "Example: layover check-config --config /etc/layover/config.json")

    @OptionGroup var source: ConfigurationOptions

    func run() throws {
        let loaded = try source.load()
        let routes = loaded.settings.routes
        print("configuration ok: \(routes.policies.count) policies, \(routes.routes.count) routes")
    }
}
