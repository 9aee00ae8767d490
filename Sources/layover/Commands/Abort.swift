import ArgumentParser
import LayoverAdmin

/// `layover abort`: ends attempts that hang, and keeps their requests.
struct Abort: AsyncParsableCommand {
    private struct Order: Encodable {
        var reason: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "End the attempts under way, and keep their requests.",
        discussion: """
            A request that may be sent again waits for its next attempt, or is held again. One that the server may have processed, and
            that is not repeatable, follows onMaybeApplied: it is undecided, or its client gets a 502.

            Example: layover abort 3f2a
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String]

    func run() async throws {
        try await SingleCommands(client: try connection.client(), command: "abort", json: json).run(ids, body: Order(reason: reason))
    }
}
