import Foundation
import Glibc

/// One run of `Tests/Fixtures/origin.py`: a real origin in a process of its own.
package final class RunningOrigin: Sendable {
    /// A line of the origin's log.
    package struct Record: Sendable, Codable {
        package var event: String
        package var method: String
        package var target: String
        /// Seconds of CLOCK_MONOTONIC at which the request's head had arrived.
        package var at: Double
        package var length: Int?
        package var sha256: String?
        /// Names and values of the request.
        package var fields: [[String]]?
    }

    package let port: Int
    private let process: RunningProcess
    private let log: URL

    private init(port: Int, process: RunningProcess, log: URL) {
        self.port = port
        self.process = process
        self.log = log
    }

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - port: nil = a free one.
    ///   - root: The folder of the files it serves.
    ///   - identity: With one it speaks TLS.
    package static func start(
        in root: TemporaryFolder, port: ReservedPort? = nil, address: String = "127.0.0.1",
        identity: TestAuthority.Identity? = nil, namespace: String? = nil
    ) async throws -> RunningOrigin {
        let folder = try TemporaryFolder()
        let portFile = folder.file("port")
        let log = folder.file("log")
        var arguments = [
            "-B", Fixtures.path("origin.py"), "--address", address, "--port", String(port?.number ?? 0),
            "--port-file", portFile.path, "--log", log.path, "--root", root.url.path,
        ]
        if let identity { arguments += ["--certificate", identity.certificate, "--key", identity.key] }
        let process = try Command("/usr/bin/python3", arguments).within(namespace).start(in: folder)
        let number = try await FolderWatch(folder.url).first("the origin listens") {
            if process.hasEnded { throw ProcessError("The origin ended: \(process.errors)") }
            return Int((try? String(contentsOf: portFile, encoding: .utf8)) ?? "")
        }
        return RunningOrigin(port: number, process: process, log: log)
    }

    /// Records of the requests so far, in order.
    package var records: [Record] { allRecords.filter { $0.event != Self.listening } }

    /// Seconds of CLOCK_MONOTONIC at which it began to listen.
    package var listensAt: Double? { allRecords.first { $0.event == Self.listening }?.at }

    private static let listening = "listening"

    private var allRecords: [Record] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
    }

    package func waitForRecord(_ what: String, where matches: @escaping @Sendable (Record) -> Bool) async throws -> Record {
        try await FolderWatch(log.deletingLastPathComponent()).first(what) { [self] in records.first(where: matches) }
    }

    /// Ends it as a crash would: at once, with every connection open.
    package func kill() async {
        process.signal(SIGKILL)
        _ = await process.result()
    }
}
