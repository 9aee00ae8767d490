import ArgumentParser
import Foundation
import Testing

@testable import layover

/// `docs/cli.md`: the help of every command, as the program prints it.
struct CommandReferenceTests {
    private static let introduction = """
        # Command line

        `layover run` is the proxy. `run`, `check-config`, `config`, `ca`, `store`, `user`, `env`, `exec`, `completions` and `version` work alone; all others are
        clients of the [admin API](api.md) of a running proxy. The same is in the man page (`man layover`) and in `layover help COMMAND`. This page
        is made of the program's own help (`UPDATE_DOCS=1 swift test --filter CommandReferenceTests`).

        | exit code | meaning |
        | --- | --- |
        | 0 | done |
        | 1 | bad configuration or usage |
        | 2 | Layover does not run, or cannot be reached; `exec`: its private proxy cannot be started |
        | 3 | refused, or nothing matched; `retry --wait`: not delivered |
        | 130 | ended by Ctrl-C, after saying what was done |
        | other | `exec`: that of the command; 126 and 127 as in shells, and after a signal the same signal, which shells show as 128 + signal |

        Ids may be given by any unambiguous prefix. Tables are for people; `--json` prints one object a line for programs.

        """

    private static var file: URL {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { folder.deleteLastPathComponent() }
        return folder.appending(path: "docs/cli.md")
    }

    private static func sections(of command: any ParsableCommand.Type, _ path: [String]) -> String {
        let path = path + [command._commandName]
        let help = Layover.helpMessage(for: command, columns: 110).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.replacing(#/\s+$/#, with: "") }.joined(separator: "\n").trimmingCharacters(in: .newlines)
        let title = path.joined(separator: " ")
        return "\n## \(title)\n\n```text\n\(help)\n```\n"
            + command.configuration.subcommands.map { sections(of: $0, path) }.joined()
    }

    @Test func documentIsTheProgramsHelp() throws {
        let sections = Layover.configuration.subcommands.map { Self.sections(of: $0, ["layover"]) }
        let expected = Self.introduction + sections.joined()
        guard (try? String(contentsOf: Self.file, encoding: .utf8)) != expected else { return }
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try expected.write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            Issue.record("docs/cli.md is behind the program's help; run this test with UPDATE_DOCS=1")
        }
    }
}
