import Foundation
import LayoverTestSupport
import Testing

extension EndToEnd {
    /// The admin API on a Unix socket.
    @Suite struct AdminSocketTests {
        private func start(in folder: TemporaryFolder) async throws -> RunningProcess {
            try folder.write("{}", to: "config.json")
            let portFile = folder.file("ports.json")
            let process = try Command(
                RunningLayover.binary,
                [
                    "run", "--config", folder.file("config.json").path, "--listen", "127.0.0.1:0", "--admin",
                    "unix:\(folder.file("a.sock").path)",
                ]
            )
            .with(["STATE_DIRECTORY": folder.url.path, "RUNTIME_DIRECTORY": folder.url.path]).start(in: folder)
            _ = try await FolderWatch(folder.url).first("Layover listens", within: .seconds(30)) {
                if process.hasEnded { throw ProcessError("Layover ended: \(process.errors)\(process.output)") }
                return FileManager.default.fileExists(atPath: portFile.path) ? true : nil
            }
            return process
        }

        @Test func adminSocketTakesCommandsOfItsOwnerOnly() async throws {
            let folder = try TemporaryFolder()
            // The socket of an earlier run is replaced.
            for _ in 1...2 {
                let process = try await start(in: folder)
                let path = folder.file("a.sock").path
                var facts = stat()
                #expect(lstat(path, &facts) == 0 && facts.st_mode & 0o7777 == 0o600 && facts.st_mode & S_IFMT == S_IFSOCK)
                let ports = try String(contentsOf: folder.file("ports.json"), encoding: .utf8)
                #expect(ports.contains("\"admin\":null") && ports.contains("a.sock"))

                let curl = ["--silent", "--unix-socket", path, "--write-out", " %{http_code}"]
                let status = try await Command("curl", curl + ["http://localhost/v1/status"]).succeed()
                #expect(status.output.hasSuffix(" 200"), "\(status)")
                let foreign = try await Command("curl", curl + ["http://evil.example/v1/status"]).succeed()
                #expect(foreign.output.contains("foreign_host") && foreign.output.hasSuffix(" 403"), "\(foreign)")

                // By its URL, and by what the running proxy wrote down.
                let layover = Command(RunningLayover.binary, ["status", "--admin-url", "unix:\(path)"])
                try await layover.succeed()
                try await Command(RunningLayover.binary, ["pending"]).with(["RUNTIME_DIRECTORY": folder.url.path]).succeed()
                // The line is printed after the file of ports is written, by a thread of its own.
                try await process.prints("admin  unix:\(path)")
                process.signal(SIGKILL)
                _ = await process.result()
                try FileManager.default.removeItem(at: folder.file("ports.json"))
                let away = try await layover.run()
                #expect(away.status == 2 && away.errors.contains("unix:\(path)"), "\(away)")
            }
        }

        @Test func anotherFileIsNotReplaced() async throws {
            let folder = try TemporaryFolder()
            try folder.write("precious", to: "a.sock")
            await #expect(throws: ProcessError.self) { _ = try await start(in: folder) }
            #expect(try String(contentsOf: folder.file("a.sock"), encoding: .utf8) == "precious")
        }
    }
}
