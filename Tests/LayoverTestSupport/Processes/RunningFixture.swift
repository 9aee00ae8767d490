import Foundation
import Glibc

/// One run of a server of `Tests/Fixtures` in a process of its own. It writes its port into a file, and a line of JSON for each event into
/// its log.
package final class RunningFixture: Sendable {
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
    ///   - script: The name of its file.
    ///   - name: The name of it in messages.
    ///   - arguments: The arguments besides the port, the files and the identity.
    ///   - port: Nil: a free one.
    ///   - identity: With one it speaks TLS.
    package static func start(
        _ script: String, called name: String, _ arguments: [String], port: ReservedPort?, identity: TestAuthority.Identity? = nil,
        namespace: String? = nil
    ) async throws -> RunningFixture {
        let folder = try TemporaryFolder()
        let (portFile, log) = (folder.file("port"), folder.file("log"))
        var words = [
            "-B", Fixtures.path(script), "--port", String(port?.number ?? 0), "--port-file", portFile.path, "--log", log.path,
        ]
        words += arguments
        if let identity { words += ["--certificate", identity.certificate, "--key", identity.key] }
        let process = try Command("/usr/bin/python3", words).within(namespace).start(in: folder)
        let number = try await FolderWatch(folder.url).first("the \(name) listens") {
            if process.hasEnded { throw ProcessError("The \(name) ended: \(process.errors)") }
            return Int((try? String(contentsOf: portFile, encoding: .utf8)) ?? "")
        }
        return RunningFixture(port: number, process: process, log: log)
    }

    /// The lines of its log so far, in order.
    package func records<Record: Decodable>() -> [Record] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
    }

    /// Waits until its log has what is looked for.
    package func first<Value: Sendable>(_ what: String, _ find: @escaping @Sendable () -> Value?) async throws -> Value {
        try await FolderWatch(log.deletingLastPathComponent()).first(what) { find() }
    }

    /// Ends it as a crash would: at once, with every connection open.
    package func kill() async {
        process.signal(SIGKILL)
        _ = await process.result()
    }
}
