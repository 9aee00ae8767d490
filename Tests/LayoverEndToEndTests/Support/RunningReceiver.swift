import Foundation
import LayoverTestSupport

/// One run of `Tests/Fixtures/webhook.py`: a receiver of notifications in a process of its own.
final class RunningReceiver: Sendable {
    /// `secretsecretsecret` in base64.
    static let secret = "c2VjcmV0c2VjcmV0c2VjcmV0"

    /// An event as the notification tells it.
    struct Event: Sendable, Codable {
        struct Incident: Sendable, Codable {
            var id: String
            var kind: String
        }

        struct Limit: Sendable, Codable {
            var name: String
        }

        var type: String
        var text: String
        var incident: Incident?
        var limit: Limit?
        var more: [Event]?

        /// This event and the events in `more`.
        var all: [Event] { [self] + (more ?? []) }
    }

    struct Record: Sendable, Codable {
        var id: String
        var target: String
        var isSigned: Bool
        var body: Event
    }

    let port: Int
    private let process: RunningProcess
    private let log: URL

    private init(port: Int, process: RunningProcess, log: URL) {
        self.port = port
        self.process = process
        self.log = log
    }

    /// - Parameter port: Default (nil): a free port.
    static func start(port: ReservedPort? = nil) async throws -> RunningReceiver {
        let folder = try TemporaryFolder()
        let (portFile, log) = (folder.file("port"), folder.file("log"))
        let process = try Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("webhook.py"), "--port", "\(port?.number ?? 0)", "--port-file", portFile.path, "--log", log.path,
                "--secret", secret,
            ]
        ).start(in: folder)
        let number = try await FolderWatch(folder.url).first("the receiver listens") {
            if process.hasEnded { throw ProcessError("The receiver ended: \(process.errors)") }
            return Int((try? String(contentsOf: portFile, encoding: .utf8)) ?? "")
        }
        return RunningReceiver(port: number, process: process, log: log)
    }

    /// Notifications so far.
    var records: [Record] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
    }

    func waitForEvent(_ what: String, where matches: @escaping @Sendable (Event) -> Bool) async throws -> Record {
        try await FolderWatch(log.deletingLastPathComponent()).first(what) { [self] in
            records.first { $0.body.all.contains(where: matches) }
        }
    }
}
