import ArgumentParser
import LayoverAdmin
import LayoverCore

/// `layover force`: resends a request that the origin may have processed.
struct Force: AsyncParsableCommand {
    private struct Order: Encodable {
        var acknowledge: String
        var reason: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "Resend a request that the server may have processed.",
        discussion: """
            The server may process the request twice. To accept that risk, give \
            --acknowledge \(EntryCommand.duplicateRisk).

            Example: layover force 3f2a --acknowledge \(EntryCommand.duplicateRisk)
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Option(help: "Must be \(EntryCommand.duplicateRisk).") var acknowledge: String
    @Option(help: "Reason; kept with the request and shown by show and explain.") var reason: String?
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    func run() async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        let order = Order(acknowledge: acknowledge, reason: reason)
        let answer = try await client.send(
            AdminCall("POST", "/v1/pending/\(AdminCall.escaped(id))/force", body: order))
        let entry = try answer.decoded(EntryDocument.self)
        StandardOutput.write(json ? answer.text : WillGoText.line(entry))
    }
}
