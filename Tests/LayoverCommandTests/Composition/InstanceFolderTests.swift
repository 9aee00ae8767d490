import Foundation
import LayoverTestSupport
import Testing

@testable import layover

/// The instance that owns the folder of `ports.json` and `admin-token`, and the error for an unwritable port file.
struct InstanceFolderTests {
    @Test func theFirstInstanceKeepsTheFolder() async throws {
        let (runtime, store) = (try TemporaryFolder(), try TemporaryFolder())
        let places = [runtime.url.path, store.url.path]
        try runtime.write("of an earlier run", to: "ports.json")
        try store.write("of an earlier run", to: "admin-token")
        var first: InstanceFolder? = InstanceFolder.claim(places)
        #expect(first?.path == runtime.url.path)
        #expect(!FileManager.default.fileExists(atPath: runtime.file("ports.json").path))
        #expect(!FileManager.default.fileExists(atPath: store.file("admin-token").path))
        try runtime.write("of the first", to: "ports.json")
        let second = InstanceFolder.claim(places)
        #expect(second.path == store.url.path)
        #expect(runtime.text(of: "ports.json") == "of the first")
        withExtendedLifetime(second) {}
        first = nil
        // A program that another test is just starting has a copy of the descriptor until it runs, and so has the lock (flock(2)).
        try await eventually("the folder is free") { InstanceFolder.claim(places).path == runtime.url.path }
        #expect(InstanceFolder.claim(["", ""]).path == "", "the current folder is one too")
    }

    /// Two real ones of one user.
    @Test func commandsGoOnToFindTheFirst() async throws {
        let (runtime, one, other) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        for folder in [one, other] { try folder.write("{}", to: "config.json") }
        try FileManager.default.createDirectory(atPath: runtime.file("layover").path, withIntermediateDirectories: false)
        let shared = ["RUNTIME_DIRECTORY": runtime.file("layover").path]
        let first = try await RunningLayover.start(in: one, environment: shared)
        let second = try await RunningLayover.start(in: other, environment: shared)
        func found() async throws -> String {
            try await Command(RunningLayover.binary, ["status", "--json"]).with(shared).with(["LAYOVER_ADMIN_URL": ""]).run().output
        }
        #expect(runtime.text(of: "layover/ports.json") == "{\"proxy\":\(first.proxyPort),\"admin\":\(first.admin.port)}\n")
        #expect(try await found().contains("\"state\""))
        #expect(await second.stop().status == 0)
        #expect(runtime.text(of: "layover/ports.json").contains("\(first.admin.port)"))
        #expect(await first.stop().status == 0)
        #expect(!FileManager.default.fileExists(atPath: runtime.file("layover/ports.json").path))
    }

    @Test func tokenAndPortsAreForTheirOwnerAlone() throws {
        let folder = try TemporaryFolder()
        // Files of an earlier run that others could read.
        for name in ["admin-token", "ports.json"] { #expect(chmod(try folder.write("old", to: name), 0o666) == 0) }
        #expect(AdminTokenFile.make(in: folder.url.path) != nil)
        try InstancePortFile(folder: folder.url.path).write(proxy: ProxyPlace(port: 1, scheme: "http"), admin: .port(2))
        for name in ["admin-token", "ports.json"] {
            #expect(try FileManager.default.attributesOfItem(atPath: folder.file(name).path)[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["admin-token", "ports.json"])
    }

    /// A device would be replaced by a file.
    @Test func portFileMustBeARegularFile() throws {
        #expect(PortFile.failure(toWrite: "/dev/null") == "it is not a regular file")
        #expect(PortFile.failure(toWrite: "/") == "it is a folder")
        #expect(PortFile.failure(toWrite: try TemporaryFolder().file("missing/ports").path) == "No such file or directory")
    }

    @Test func portFileThatCannotBeWrittenEndsTheStart() async throws {
        let folder = try TemporaryFolder()
        for path in [folder.file("missing/ports").path, folder.url.path] {
            let run = Command(
                RunningLayover.binary, ["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--port-file", path]
            ).with(["STATE_DIRECTORY": folder.url.path, "RUNTIME_DIRECTORY": folder.url.path])
            let result = try await run.run()
            #expect(result.status == 1 && result.errors.contains("--port-file: \(path) cannot be written"), "\(result)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty, "nothing was begun")
    }
}
