import Foundation
import Glibc

/// One run of `Tests/Fixtures/name_server.py`: a real DNS server in a process of its own, on port 53.
package final class RunningNameServer: Sendable {
    package let address: String
    private let process: RunningProcess
    private let folder: TemporaryFolder

    private init(address: String, process: RunningProcess, folder: TemporaryFolder) {
        self.address = address
        self.process = process
        self.folder = folder
    }

    /// Starts it and waits until its port is bound.
    ///
    /// - Parameter names: The known names, each with its IPv4 address. Every other name does not exist.
    package static func start(
        knowing names: [String: String], address: String, namespace: String
    ) async throws -> RunningNameServer {
        let folder = try TemporaryFolder()
        let readyFile = folder.file("ready")
        try write(names, to: folder)
        let process = try Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("name_server.py"), "--address", address, "--zone", folder.file("zone").path,
                "--ready-file", readyFile.path,
            ]
        ).within(namespace).start(in: folder)
        try await FolderWatch(folder.url).first("the name server listens") {
            if process.hasEnded { throw ProcessError("The name server ended: \(process.errors)") }
            return FileManager.default.fileExists(atPath: readyFile.path) ? () : nil
        }
        return RunningNameServer(address: address, process: process, folder: folder)
    }

    /// Replaces all that it knows, before the next question.
    package func know(_ names: [String: String]) throws {
        try Self.write(names, to: folder)
    }

    private static func write(_ names: [String: String], to folder: TemporaryFolder) throws {
        let lines = names.map { "\($0) \($1)\n" }.sorted().joined()
        try Data(lines.utf8).write(to: folder.file("zone"), options: .atomic)
    }

    /// Ends it as a crash would: its port is closed from then on.
    package func kill() async {
        process.signal(SIGKILL)
        _ = await process.result()
    }
}
