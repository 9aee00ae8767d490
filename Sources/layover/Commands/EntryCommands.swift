import ArgumentParser

/// `layover retry`
struct RetryEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "retry", abstract: "Attempt entries now.")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "retry", selection: selection).run() }
}

/// `layover cancel`
struct CancelEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Give entries up.")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "cancel", selection: selection).run() }
}

/// `layover hold`
struct HoldEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Stop the automatic attempts of entries.")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "hold", selection: selection).run() }
}

/// `layover release`
struct ReleaseEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Let the automatic attempts of held entries go on.")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "release", selection: selection).run() }
}

/// Which entries a command is for.
struct EntrySelectionOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "One JSON object a line.") var json = false
    @Option(help: "All entries for this host.") var host: String?
    @Flag(help: "All entries.") var all = false
    @Option(help: "Words that are kept with the command.") var reason: String?
    @Argument(help: "Ids, or their beginnings.") var ids: [String] = []

    func check() throws {
        let ways = [!ids.isEmpty, host != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Name entries by ID, by --host, or with --all.") }
    }
}
