import ArgumentParser
import LayoverAdmin

/// `layover drain`: stops the running proxy as SIGTERM does.
struct Drain: AsyncParsableCommand {
    private struct Order: Encodable {}

    static let configuration = CommandConfiguration(
        abstract: "Stop the running proxy gently.",
        discussion: """
            As SIGTERM does: no new connections, held clients get a 503 with Retry-After or their ticket, attempts \
            under way get timeouts.drain. Tickets go on after the next start.
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "One JSON object.") var json = false

    func run() async throws {
        let answer = try await connection.client().send(AdminCall("POST", "/v1/drain", body: Order()))
        StandardOutput.write(json ? answer.text : try answer.decoded(HealthDocument.self).status)
    }
}
