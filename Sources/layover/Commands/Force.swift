import ArgumentParser
import LayoverAdmin
import LayoverCore

/// `layover force`: sends again what the origin may have acted on already.
struct Force: AsyncParsableCommand {
    private struct Order: Encodable {
        var acknowledge: String
        var reason: String?
    }

    static let configuration = CommandConfiguration(
        abstract: "Send again what may have been applied.",
        discussion: """
            The origin may have acted on the request, so it may act twice. Whoever asks for that says \
            --acknowledge \(EntryCommand.duplicateRisk).
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "One JSON object.") var json = false
    @Option(help: "The words \(EntryCommand.duplicateRisk).") var acknowledge: String
    @Option(help: "Words that are kept with the command.") var reason: String?
    @Argument(help: "An id, or its beginning.") var id: String

    func run() async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        let order = Order(acknowledge: acknowledge, reason: reason)
        let answer = try await client.send(
            AdminCall("POST", "/v1/pending/\(AdminCall.escaped(id))/force", body: order))
        let entry = try answer.decoded(EntryDocument.self)
        StandardOutput.write(json ? answer.text : "\(entry.id) \(entry.state)")
    }
}
