import LayoverConfiguration

/// The layers that a configuration is read from, so that they can be read again.
struct ConfigurationSource: Sendable {
    /// Nil: there is no file.
    var file: String?
    var environment: [String: String]
    /// What the command line says, by dotted path.
    var overrides: [String: String]

    func load() throws(ConfigurationErrors) -> LoadedConfiguration {
        try ConfigurationLoader.load(file: file, environment: environment, overrides: overrides)
    }
}
