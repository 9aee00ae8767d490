import ArgumentParser

/// `layover retry`
struct RetryEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send requests now.",
        discussion: """
            Prints when each request is sent if that is not possible now, for example in mode offline. With --wait, the exit code \
            is 0 if all requests were delivered, otherwise 3. On a terminal a line shows how many are; Ctrl-C ends the waiting, \
            and the requests stay.

            Example: layover retry --host shop.example
            """)

    @OptionGroup var selection: EntrySelectionOptions
    @Flag(help: "Wait until each request has ended or needs a decision.") var wait = false

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "retry", selection: selection, waits: wait).run() }
}

/// `layover cancel`
struct CancelEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel requests. Their clients get a 503, or a 502 if the server may have processed them.",
        discussion: "Example: layover cancel --host shop.example --reason \"the shop has closed\"")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "cancel", selection: selection).run() }
}

/// `layover hold`
struct HoldEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Stop automatic attempts for requests.",
        discussion: "Example: layover hold 3f2a --reason \"ask the shop first\"")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "hold", selection: selection).run() }
}

/// `layover release`
struct ReleaseEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Resume automatic attempts for held requests.",
        discussion: "Example: layover release --all")

    @OptionGroup var selection: EntrySelectionOptions

    func validate() throws { try selection.check() }
    func run() async throws { try await EntryOrder(command: "release", selection: selection).run() }
}

/// Which entries a command is for.
struct EntrySelectionOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "All requests to this host.") var host: String?
    @Flag(help: "All requests.") var all = false
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String] = []

    func check() throws {
        let ways = [!ids.isEmpty, host != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("Give ids, --host or --all.") }
    }
}
