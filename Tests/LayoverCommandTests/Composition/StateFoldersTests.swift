import Foundation
import LayoverTestSupport
import Testing

@testable import layover

/// Where state lies when nothing is configured.
@Suite struct StateFoldersTests {
    @Test(arguments: [
        (["STATE_DIRECTORY": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/s"),
        (["STATE_DIRECTORY": "/s:/t", "HOME": "/h"], "/s"),
        (["XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/layover"),
        (["XDG_STATE_HOME": "x", "STATE_DIRECTORY": "", "HOME": "/h"], "/h/.local/state/layover"),
        (["HOME": "/h"], "/h/.local/state/layover"),
    ])
    func storeWithoutPathIsInTheStateFolder(environment: [String: String], folder: String) throws {
        let home = try TemporaryFolder()
        let config = try home.write("{}", to: "config.json")
        let store = try ConfigurationSource(file: config, environment: environment, overrides: [:]).load().settings.store
        #expect(store.file == folder + "/layover.sqlite")
        #expect(store.folder == folder)
        #expect(store.spoolFolder == folder + "/spool")
    }

    @Test func storePathWinsOverTheStateFolder() throws {
        let home = try TemporaryFolder()
        let config = try home.write("{}", to: "config.json")
        let source = ConfigurationSource(
            file: config, environment: ["HOME": "/h"], overrides: ["store.path": "/data/l.sqlite"])
        #expect(try source.load().settings.store.file == "/data/l.sqlite")
    }

    @Test func storeInTheOldPlaceIsUsedWithAWarning() throws {
        let (folder, state) = (try TemporaryFolder(), try TemporaryFolder())
        let config = try folder.write("{}", to: "config.json")
        let source = ConfigurationSource(file: config, environment: ["STATE_DIRECTORY": state.url.path], overrides: [:])
        #expect(try source.load().settings.store.folder == state.url.path)
        #expect(try source.load().warnings == [])
        let old = try folder.write("", to: "layover.sqlite")
        let loaded = try source.load()
        #expect(loaded.settings.store.file == old)
        #expect(loaded.warnings.count == 1)
        #expect(loaded.warnings.first?.contains("the store \(old) is used") == true)
        #expect(loaded.warnings.first?.contains(state.url.path) == true)
    }

    /// Without a named file, an earlier version kept its store in the current folder.
    @Test func storeInTheCurrentFolderIsUsedWithAWarning() async throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "layover.sqlite")
        var command = Command(RunningLayover.binary, ["check-config"])
        command.folder = folder.url
        let found = try await command.run()
        #expect(found.status == 0 && found.errors.contains("the store \(folder.file("layover.sqlite").path) is used"), "\(found)")

        let home = try TemporaryFolder()
        let config = try home.write("{}", to: "config.json")
        command.arguments += ["--config", config]
        let named = try await command.run()
        #expect(named.status == 0 && named.errors == "", "\(named)")
    }

    @Test func filesOfAnInstanceAreInTheRuntimeFolderOrBesideTheStore() throws {
        let folder = try TemporaryFolder()
        let (service, user) = (folder.file("service").path, folder.file("layover").path)
        try FileManager.default.createDirectory(atPath: service, withIntermediateDirectories: false)
        func place(_ environment: [String: String]) -> String {
            StateFolders(environment: environment).makeInstanceFolder(store: "/store")
        }
        #expect(place(["RUNTIME_DIRECTORY": service, "XDG_RUNTIME_DIR": folder.url.path]) == service)
        #expect(!FileManager.default.fileExists(atPath: user))
        #expect(place(["XDG_RUNTIME_DIR": folder.url.path]) == user)
        #expect(try FileManager.default.attributesOfItem(atPath: user)[.posixPermissions] as? Int == 0o700)
        #expect(place(["XDG_RUNTIME_DIR": folder.file("missing").path]) == "/store")
        #expect(place([:]) == "/store")
        // After `su` the variable may name the folder of another user.
        let other: uid_t = geteuid() == 0 ? 65534 : 0
        let foreign = geteuid() == 0 ? folder.file("foreign").path : "/usr"
        if geteuid() == 0 {
            try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: false)
            #expect(chown(foreign, other, other) == 0)
        }
        #expect(place(["XDG_RUNTIME_DIR": foreign]) == "/store")
        #expect(place(["RUNTIME_DIRECTORY": foreign]) == "/store")
        #expect(!FileManager.default.fileExists(atPath: foreign + "/layover"))
    }

    @Test func portFileOfALaterInstanceStays() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (InstancePortFile(folder: folder.url.path), InstancePortFile(folder: folder.url.path))
        try first.write(proxy: ProxyPlace(port: 1, scheme: "http"), admin: .port(2))
        try second.write(proxy: ProxyPlace(port: 3, scheme: "http"), admin: .port(4))
        first.remove()
        #expect(folder.text(of: "ports.json") == "{\"proxy\":3,\"admin\":4}\n")
        second.remove()
        #expect(!FileManager.default.fileExists(atPath: second.path))
    }

    @Test func configurationOfTheUserIsFoundBeforeThatOfTheMachine() throws {
        let folder = try TemporaryFolder()
        let folders = StateFolders(environment: ["XDG_CONFIG_HOME": folder.url.path, "HOME": "/h"])
        let expected = folder.file("layover/config.json").path
        #expect(folders.configurationFiles == [expected, "/etc/layover/config.json"])
        #expect(folders.findConfiguration() != expected)
        try folder.write("{}", to: "layover/config.json")
        #expect(folders.findConfiguration() == expected)
    }

    /// Started in another folder each time, on the same tickets.
    @Test func proxyWithoutConfigurationLeavesItsWorkingFolderEmpty() async throws {
        let (working, home) = (try TemporaryFolder(), try TemporaryFolder())
        var command = Command(
            RunningLayover.binary,
            ["run", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--port-file", home.file("ports.json").path])
        command.folder = working.url
        command.environment = [
            "XDG_STATE_HOME": home.file("state").path, "XDG_CONFIG_HOME": home.file("config").path,
            "XDG_RUNTIME_DIR": home.url.path,
        ]
        let process = try command.start()
        _ = try await FolderWatch(home.url).first("Layover listens", within: .seconds(30)) {
            process.hasEnded || FileManager.default.fileExists(atPath: home.file("ports.json").path) ? true : nil
        }
        #expect(FileManager.default.fileExists(atPath: home.file("state/layover/layover.sqlite").path))
        #expect(FileManager.default.fileExists(atPath: home.file("layover/admin-token").path))
        #expect(FileManager.default.fileExists(atPath: home.file("layover/ports.json").path))
        var status = Command(RunningLayover.binary, ["status"])
        status.environment = command.environment
        #expect(try await status.run().status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: working.url.path) == [])
        process.signal(SIGTERM)
        _ = await process.result()
        #expect(!FileManager.default.fileExists(atPath: home.file("layover/ports.json").path))
    }
}
