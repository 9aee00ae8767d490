import LayoverConfiguration
import LayoverCore

/// The layers that a configuration is read from, so that they can be read again.
struct ConfigurationSource: Sendable {
    /// The file that is named, or the one that was found. Nil: there is no file.
    let file: String?
    /// Whether the file was named, by option or variable. Otherwise an earlier version kept its store in the current folder.
    private let isFileNamed: Bool
    /// Layover's environment variables. Any of them may be a token.
    private let environment: [String: Secret]
    /// Values of the command line, by dotted path.
    private let overrides: [String: String]
    let folders: StateFolders

    /// - Parameter named: The file that is named. Nil: it is looked for.
    init(file named: String?, environment: [String: String], overrides: [String: String]) {
        folders = StateFolders(environment: environment)
        let named = named ?? environment["LAYOVER_CONFIG"]
        isFileNamed = named != nil
        file = named ?? folders.findConfiguration()
        self.environment = environment.filter { $0.key.hasPrefix("LAYOVER_") }.mapValues { Secret($0) }
        self.overrides = overrides
    }

    func load() throws(ConfigurationErrors) -> LoadedConfiguration {
        let loaded = try ConfigurationLoader.load(
            file: file, environment: environment.mapValues(\.revealed), overrides: overrides)
        return folders.place(loaded, isFileNamed: isFileNamed)
    }
}
