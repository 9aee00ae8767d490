import ArgumentParser
import Foundation
import LayoverAdmin

/// `layover explain`
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a request's attempts, the rule applied to each, and what it waits for.",
        discussion: "Example: layover explain 3f2a")

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false
    @Argument(help: "An id, or an unambiguous prefix of it.") var id: String

    func run() async throws {
        let client = try connection.client()
        let id = try await EntryNames(client: client).resolved(id)
        let answer = try await client.send(AdminCall("/v1/pending/\(AdminCall.escaped(id))/explain"))
        let document = try answer.decoded(ExplainDocument.self)
        StandardOutput.write(json ? [answer.text] : Timeline(document: document).lines)
    }
}
