import ArgumentParser
import LayoverAdmin

/// `layover reload`
struct Reload: AsyncParsableCommand {
    private struct Order: Encodable {}

    static let configuration = CommandConfiguration(
        abstract: "Reload the configuration of the running proxy.",
        discussion: """
            If the file has errors, nothing changes and the exit code is 1.

            Example: layover reload
            """)

    @OptionGroup var connection: ConnectionOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let answer = try await connection.client().answer(to: AdminCall("POST", "/v1/reload", body: Order()))
        guard answer.status < 300 else {
            let errors = (try? answer.decoded(ProblemDocument.self))?.errors ?? []
            guard !errors.isEmpty else { throw answer.failure }
            for error in errors { StandardError.error(error) }
            throw ExitCode(answer.failure.code.rawValue)
        }
        let report = try answer.decoded(ReloadDocument.self)
        StandardOutput.write(json ? [answer.text] : Self.lines(report))
    }

    static func lines(_ report: ReloadDocument) -> [String] {
        guard !report.applied.isEmpty || !report.needsRestart.isEmpty else {
            return ["configuration reloaded: no changes"]
        }
        var facts = Facts()
        for key in report.applied { facts.add("applied", key) }
        for key in report.needsRestart { facts.add("restart needed", key) }
        return facts.lines
    }
}
