import Foundation
import LayoverTestSupport
import Testing

/// `layover exec` with a private proxy, and a port where an origin is or will be.
struct ExecScene {
    /// Has the configuration, and the temporary folders of private proxies.
    let folder: TemporaryFolder
    let root: TemporaryFolder
    let port: ReservedPort

    init(_ configuration: String = RunningLayover.quickRetries) throws {
        folder = try TemporaryFolder()
        root = try TemporaryFolder()
        port = try ReservedPort()
        try folder.write(configuration, to: "config.json")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    }

    /// Where private proxies make their folders.
    var temporary: URL { folder.file("temporary") }

    var url: String { "http://127.0.0.1:\(port.number)/echo" }

    /// With `--config`, so that a proxy that runs on this machine is not used.
    func exec(_ options: [String] = [], _ words: String...) -> Command {
        var command = Command(
            RunningLayover.binary, ["exec", "--config", folder.file("config.json").path] + options + ["--"] + words)
        command.folder = folder.url
        return command.with(["TMPDIR": temporary.path])
    }

    /// The same on a terminal, whose steps are those of the fixture.
    func onTerminal(_ command: Command, steps: String = "[]") -> Command {
        var outer = command
        outer.executable = "python3"
        outer.arguments = ["-B", Fixtures.path("terminal.py"), "--steps", steps, "--", command.executable] + command.arguments
        return outer.with(["TERM": "xterm"])
    }

    func startOrigin() async throws -> RunningOrigin { try await RunningOrigin.start(in: root, port: port) }

    /// A command that prints the address of the admin API of its proxy, and then does something else.
    static func announced(_ script: String) -> [String] { ["sh", "-c", #"echo "admin=$LAYOVER_ADMIN_URL"; "# + script] }

    /// The admin API whose address a command has printed.
    func admin(of running: RunningProcess) async throws -> AdminClient {
        try await FolderWatch(running.folder.url).first("the address of the admin API") {
            // Looked at first: it may print the address and end between the two looks.
            let hadEnded = running.hasEnded
            if let match = running.output.firstMatch(of: #/admin=http://127.0.0.1:(\d+)\s/#), let port = Int(match.1) {
                return AdminClient(port: port)
            }
            if hadEnded { throw ProcessError("it ended: \(running.output)\(running.errors)") }
            return nil
        }
    }

    // MARK: What is left

    func expectNothingLeft() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        #expect(processes == [])
    }

    /// Processes with the folder of a private proxy of this scene in their command line.
    private var processes: [String] {
        let mark = Data("--private\0\(temporary.path)".utf8)
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return numbers.filter { FileManager.default.contents(atPath: "/proc/\($0)/cmdline")?.range(of: mark) != nil }
    }
}
