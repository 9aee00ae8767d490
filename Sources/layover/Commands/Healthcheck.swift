import ArgumentParser

/// `layover healthcheck`: for containers. Exit code 0 if the process lives, otherwise 2.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check that the proxy is running.",
        discussion: "Example: layover healthcheck || systemctl restart layover")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let answer = try await connection.client().answer(to: AdminCall("/livez"))
        guard answer.status == 200 else {
            throw CommandFailure(code: .unreachable, message: "not healthy: the response was \(answer.status); layover status tells why")
        }
        StandardOutput.write("healthy")
    }
}
