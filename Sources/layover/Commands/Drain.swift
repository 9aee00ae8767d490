import ArgumentParser
import LayoverAdmin

/// `layover drain`: stops the running proxy as SIGTERM does.
struct Drain: AsyncParsableCommand {
    private struct Order: Encodable {}

    static let configuration = CommandConfiguration(
        abstract: "Stop the running proxy after current requests finish.",
        discussion: """
            Like SIGTERM: the proxy takes no new connections, held clients get their ticket or a 503 with \
            Retry-After (a 502 if the server may have processed the request), running attempts get timeouts.drain. \
            Tickets continue after the next start.

            Example: layover drain
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let answer = try await connection.client().send(AdminCall("POST", "/v1/drain", body: Order()))
        StandardOutput.write(json ? answer.text : Terminal.safe(try answer.decoded(HealthDocument.self).status))
    }
}
