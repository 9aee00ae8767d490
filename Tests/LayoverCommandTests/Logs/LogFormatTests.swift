import Foundation
import LayoverTestSupport
import Testing

/// `log.format: auto`: text for people on a terminal, JSON for programs elsewhere.
struct LogFormatTests {
    private func run(_ terminal: [String]) async throws -> String {
        let folder = try TemporaryFolder()
        // Standard error is looked at alone: the terminal has both.
        let result = try await Command(
            "python3",
            ["-B", Fixtures.path("terminal.py")] + terminal + ["--steps", #"[{"expect":"export http_proxy","signal":15}]"#, "--"] + [
                RunningLayover.binary, "run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
            ]
        ).with(["STATE_DIRECTORY": folder.url.path, "RUNTIME_DIRECTORY": folder.url.path, "TERM": "xterm", "HOME": folder.url.path]).run()
        #expect(result.status == 0, "\(result)")
        return terminal.isEmpty ? result.output : result.errors
    }

    @Test func terminalGetsTextAndOthersGetJSON() async throws {
        let text = try await run([])
        #expect(text.contains(#/\d\d:\d\d\.\d+Z info draining/#) && !text.contains(#""level":"#), "\(text)")
        let json = try await run(["--errors-apart"])
        let lines = json.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines { #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) } }
    }
}
