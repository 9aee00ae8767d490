import Foundation
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
    /// The settings of the private proxy of one command; nil: this is no such proxy.
    var command: PrivateCommand?
    /// The address of the socket that a service manager has bound; nil: no socket was given.
    var activated: ListenAddress?
    /// Hosts that are intercepted besides those of routes.
    var intercepted: [String] = []

    struct PrivateCommand {
        let folder: String
        /// See `LoadedConfiguration.forOneCommand`.
        let policy: String?
    }

    /// - Parameter named: The file that is named. Nil: the file is looked for.
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
            file: file, environment: environment.mapValues(\.revealed), overrides: overrides, activated: activated)
        let loadedHere = folders.place(loaded, isFileNamed: isFileNamed)
        // Behind what the policy of a command makes of the routes.
        if let command { return try loadedHere.forOneCommand(in: command.folder, policy: command.policy).intercepting(intercepted) }
        let placed = try loadedHere.intercepting(intercepted)
        return ignoredFile.map { placed.warning("\($0) in the current folder is not read; name it with --config \($0).") } ?? placed
    }

    /// A file that somebody may take for the one that is read.
    private var ignoredFile: String? {
        let name = "config.json"
        guard !isFileNamed, access(name, F_OK) == 0 else { return nil }
        func resolved(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        return file.map(resolved) == resolved(name) ? nil : name
    }
}
