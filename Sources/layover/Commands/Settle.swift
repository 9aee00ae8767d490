import ArgumentParser
import LayoverAdmin

/// `layover settle`: the origin has processed a request, as a person knows.
struct Settle: AsyncParsableCommand {
    private struct Order: Encodable {
        var status: Int?
        var note: String?
        var reason: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "Mark requests as delivered: the server has processed them.",
        discussion: """
            For requests that wait, are held or undecided. They are not sent again, and requests that wait for them go. A client \
            on its connection gets a 502, because the response is not known; a ticket says settledBy.

            Example: layover settle 3f2a --status 201 --note "order 17 is in the shop"
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print one JSON object per line.") var json = false
    @Option(help: "The status of the server's response.") var status: Int?
    @Option(help: "A note for the client, 500 characters at most.") var note: String?
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "Ids, or unambiguous prefixes of ids.") var ids: [String]

    func run() async throws {
        try await SingleCommands(client: try connection.client(), command: "settle", json: json)
            .run(ids, body: Order(status: status, note: note, reason: reason))
    }
}
