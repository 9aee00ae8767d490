import Foundation
import LayoverTestSupport

/// Runs `layover` on a terminal (`Tests/Fixtures/terminal.py`).
enum PseudoTerminal {
    /// The fixture ends its command when a step does not come in time, so it is not ended itself: its command would go on.
    ///
    /// - Parameter steps: JSON; see the fixture.
    static func run(
        _ arguments: [String], columns: Int = 80, rows: Int = 24, steps: String = "[]",
        environment: [String: String] = [:]
    ) async throws -> CommandResult {
        // The variables that decide are the test's own, whatever the environment of the test run has.
        let own = ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 }
        return try await Command(
            "python3",
            [
                "-B", Fixtures.path("terminal.py"), "--columns", "\(columns)", "--rows", "\(rows)", "--steps", steps, "--",
                RunningLayover.binary,
            ] + arguments
        ).with(own).run(within: .seconds(600))
    }
}
