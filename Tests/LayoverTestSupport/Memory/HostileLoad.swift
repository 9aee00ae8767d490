import Foundation

/// A run of `Tests/Fixtures/hostile`: origins and clients that break the rules around a running proxy, with the bytes compared at both
/// ends. The seed decides everything that is sent.
package struct HostileLoad: Sendable {
    package struct Report: Sendable, Codable {
        package var exchanges: Int
        /// How often the client got a complete `answer` of the origin, a response of the proxy's `own`, and `none`.
        package var kinds: [String: Int]
        package var breachCount: Int
        /// The first of them. Each names the options that play its exchange alone.
        package var breaches: [String]

        package var summary: String {
            "\(exchanges) exchanges: " + kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
                + ", \(breachCount) breaches"
        }
    }

    package var seconds: Int
    package var seed: UInt64
    package var clientCount = 16
    /// How long an exchange may take.
    package var patience: Duration = .seconds(30)
    /// Entries that come to their end before all else.
    package var endedEntryCount = 0

    package init(seconds: Int, seed: UInt64) { (self.seconds, self.seed) = (seconds, seed) }

    package func run(on layover: RunningLayover) async throws -> Report {
        let result = try await Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("hostile"), "--proxy", String(layover.proxyPort), "--admin", String(layover.admin.port),
                "--seconds", String(seconds), "--seed", String(seed), "--clients", String(clientCount),
                "--patience", String(patience.components.seconds), "--ended", String(endedEntryCount),
            ]
        ).run(within: Duration.seconds(seconds) + patience * 6)
        guard let line = result.output.split(separator: "\n").last,
            let report = try? JSONDecoder().decode(Report.self, from: Data(line.utf8))
        else { throw ProcessError("The hostile load \(result)") }
        return report
    }
}
