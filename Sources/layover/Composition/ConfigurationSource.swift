import LayoverConfiguration
import LayoverCore

/// The layers that a configuration is read from, so that they can be read again.
struct ConfigurationSource: Sendable {
    /// Nil: there is no file.
    let file: String?
    /// Layover's environment variables. Any of them may be a token.
    private let environment: [String: Secret]
    /// Values of the command line, by dotted path.
    private let overrides: [String: String]

    init(file: String?, environment: [String: String], overrides: [String: String]) {
        self.file = file
        self.environment = environment.filter { $0.key.hasPrefix("LAYOVER_") }.mapValues { Secret($0) }
        self.overrides = overrides
    }

    func load() throws(ConfigurationErrors) -> LoadedConfiguration {
        try ConfigurationLoader.load(
            file: file, environment: environment.mapValues(\.revealed), overrides: overrides)
    }
}
