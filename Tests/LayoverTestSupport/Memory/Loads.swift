import Foundation

/// A run of `Tests/Fixtures/mixed_load`: clients and origins around a running proxy, with everything mixed and every
/// byte of every body compared at both ends.
package struct MixedLoad: Sendable {
    package struct Report: Sendable, Codable {
        package var exchanges: Int
        /// How often each kind of exchange came to its end.
        package var kinds: [String: Int]
        package var bytesUp: Int
        package var bytesDown: Int
        /// Responses that had to be waited for, by what `Proxy-Status` says.
        package var waited: Int
        package var breachCount: Int
        /// The first of them.
        package var breaches: [String]

        package var summary: String {
            "\(exchanges) exchanges, \(bytesUp >> 20) MiB up, \(bytesDown >> 20) MiB down, \(waited) waited, \(breachCount) breaches"
        }
    }

    package var seconds: Int
    package var seed: UInt64
    package var clientCount = 10
    /// Most bytes of a download, and of an upload.
    package var downloadByteCountMax = 6_000_000
    package var uploadByteCountMax = 1_000_000
    /// How long an exchange may take.
    package var patience: Duration = .seconds(60)
    /// Entries that come to their end before all else, within `seconds`.
    package var endedEntryCount = 0

    /// Certificates of the origin that speaks TLS.
    private let certificates: TestCertificates

    package init(seconds: Int, seed: UInt64) throws {
        self.seconds = seconds
        self.seed = seed
        certificates = try TestCertificates()
    }

    /// Configuration of the proxy: quick retries, and trust in the origins.
    package var configuration: String {
        RunningLayover.quickRetries.dropLast() + #", "tls": {"caFile": "\#(certificates.caFile)"}}"#
    }

    /// - Parameter limit: When the load is killed, which throws; nil: when it has certainly exceeded its own limits.
    package func run(on layover: RunningLayover, within limit: Duration? = nil) async throws -> Report {
        let result = try await Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("mixed_load"), "--proxy", String(layover.proxyPort), "--seconds", String(seconds),
                "--seed", String(seed), "--clients", String(clientCount), "--download", String(downloadByteCountMax),
                "--upload", String(uploadByteCountMax), "--patience", String(patience.components.seconds),
                "--ended", String(endedEntryCount), "--certificate", certificates.serverFile, "--key", certificates.serverKeyFile,
            ]
        ).run(within: limit ?? (Duration.seconds(seconds) + patience * 4))
        guard let line = result.output.split(separator: "\n").last,
            let report = try? JSONDecoder().decode(Report.self, from: Data(line.utf8))
        else { throw ProcessError("The load \(result)") }
        return report
    }
}

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
