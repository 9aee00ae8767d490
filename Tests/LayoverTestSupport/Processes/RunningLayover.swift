import Foundation
import Glibc

/// The real binary, running with a configuration of the test's own on free ports.
package final class RunningLayover: Sendable {
    package let proxyPort: Int
    package let admin: AdminClient
    package let process: RunningProcess
    package let folder: TemporaryFolder
    package let namespace: String?

    private init(ports: Ports, process: RunningProcess, folder: TemporaryFolder, namespace: String?) {
        proxyPort = ports.proxy
        admin = AdminClient(port: ports.admin, namespace: namespace)
        self.process = process
        self.folder = folder
        self.namespace = namespace
    }

    private struct Ports: Sendable, Codable {
        var proxy: Int
        var admin: Int
    }

    /// Attempts follow one another quickly, so that a test of waiting takes no longer than what it waits for.
    package static let quickRetries =
        #"{"policies":{"default":{"delay":{"type":"constant","every":"100ms","jitter":"none"}}}}"#

    /// No second attempt falls due by itself within a test: whatever is delivered was set off by something else.
    package static let noTimedRetries =
        #"{"policies":{"default":{"delay":{"type":"constant","every":"1h","jitter":"none"}}}}"#

    /// `proxy.upstream` of those that are started; nil: as it ships.
    @TaskLocal package static var upstream: String?

    /// Starts it and waits until both ports listen.
    package static func start(
        _ configuration: String = quickRetries, environment: [String: String] = [:], namespace: String? = nil
    ) async throws -> RunningLayover {
        let folder = try TemporaryFolder()
        try folder.write(configuration, to: "config.json")
        return try await start(in: folder, environment: environment, namespace: namespace)
    }

    /// Starts it with the `config.json` of a folder, on the store that an earlier run may have left there, and waits
    /// until both ports listen.
    ///
    /// - Parameters:
    ///   - binary: nil = `binary`.
    ///   - prefix: Words in front of the command line, such as a tracer that runs the proxy.
    package static func start(
        in folder: TemporaryFolder, binary: String? = nil, under prefix: [String] = [],
        environment: [String: String] = [:], namespace: String? = nil, within limit: Duration = .seconds(30)
    ) async throws -> RunningLayover {
        let process = try launch(
            in: folder, binary: binary, under: prefix, environment: environment, namespace: namespace)
        let portFile = folder.file("ports.json")
        let ports = try await FolderWatch(folder.url).first("Layover listens", within: limit) {
            if process.hasEnded { throw ProcessError("Layover ended: \(process.errors)\(process.output)") }
            return (try? Data(contentsOf: portFile)).flatMap { try? JSONDecoder().decode(Ports.self, from: $0) }
        }
        return RunningLayover(ports: ports, process: process, folder: folder, namespace: namespace)
    }

    /// Starts it and waits for nothing.
    package static func launch(
        in folder: TemporaryFolder, binary: String? = nil, under prefix: [String] = [],
        environment: [String: String] = [:], namespace: String? = nil
    ) throws -> RunningProcess {
        let portFile = folder.file("ports.json").path
        try? FileManager.default.removeItem(atPath: portFile)
        let words =
            prefix + [
                binary ?? Self.binary, "run", "--config", folder.file("config.json").path, "--listen", "127.0.0.1:0",
                "--admin", "127.0.0.1:0", "--port-file", portFile,
            ]
        // As a service manager does: everything that it keeps lies in the test's folder.
        let folders = ["STATE_DIRECTORY": folder.url.path, "RUNTIME_DIRECTORY": folder.url.path]
        let path = upstream.map { ["LAYOVER_PROXY_UPSTREAM": $0] } ?? [:]
        return try Command(words[0], Array(words.dropFirst()))
            .with(folders).with(path).with(environment).within(namespace).start(in: folder)
    }

    /// The binary lies beside the test bundle; LAYOVER_BINARY names another one.
    package static var binary: String {
        if let named = ProcessInfo.processInfo.environment["LAYOVER_BINARY"] { return named }
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return own.deletingLastPathComponent().appendingPathComponent("layover").path
    }

    package var proxyURL: String { "http://127.0.0.1:\(proxyPort)" }
    package var adminURL: String { "http://127.0.0.1:\(admin.port)" }

    /// A client command with the usual variables set, in this proxy's namespace.
    package func client(_ executable: String, _ arguments: String...) -> Command {
        client(executable, arguments)
    }

    package func client(_ executable: String, _ arguments: [String]) -> Command {
        Command(executable, arguments).with(["http_proxy": proxyURL, "https_proxy": proxyURL]).within(namespace)
    }

    /// curl through this proxy: silent, but with its errors, and with no patience of its own.
    package func curl(_ arguments: String...) -> Command {
        var command = client("curl", "--silent", "--show-error")
        command.arguments += arguments
        return command
    }

    /// A command of Layover's own that steers this very proxy.
    package func command(_ arguments: String...) -> Command {
        Command(Self.binary, arguments).with(["LAYOVER_ADMIN_URL": adminURL]).within(namespace)
    }

    /// Sends bytes as they are and gives the whole response; `Connection: close` is up to the caller.
    package func exchange(_ request: String, within limit: Duration = .seconds(30)) async throws -> PlainResponse {
        let (port, namespace) = (proxyPort, namespace)
        return try await onOwnThread {
            let connection = try RawConnection(port: port, namespace: namespace)
            try connection.send(request)
            return try PlainResponse(connection.receiveAll(within: limit))
        }
    }

    package func call(
        _ method: String, _ path: String, json: String? = nil, fields: [String] = []
    ) async throws -> PlainResponse {
        let admin = admin
        return try await onOwnThread { try admin.call(method, path, json: json, fields: fields) }
    }

    package func incidents() async throws -> [IncidentListing.Incident] {
        let answer = try await call("GET", "/v1/incidents")
        guard answer.status == 200 else {
            throw ProcessError("The admin API answered \(answer.status): \(answer.text)")
        }
        return try JSONDecoder().decode(IncidentListing.self, from: answer.body).data
    }

    @discardableResult
    package func waitForPending(
        _ what: String = "requests are pending", within limit: Duration = .seconds(20),
        _ condition: @escaping @Sendable (PendingListing) -> Bool
    ) async throws -> PendingListing {
        let admin = admin
        return try await onOwnThread { try admin.waitForPending(what, within: limit, condition) }
    }

    /// Waits until the monitor has seen that no link is left.
    package func waitUntilOffline(within limit: Duration = .seconds(10)) async throws {
        let admin = admin
        try await onOwnThread {
            let deadline = Deadline(in: limit)
            let events = try admin.events()
            while try !admin.call("GET", "/v1/reachability").text.contains(#""state":"offline""#) {
                _ = try events.next(by: deadline)
            }
        }
    }

    /// Ends it by SIGKILL: at once, with nothing finished.
    package func kill() async {
        process.signal(SIGKILL)
        _ = await process.result()
    }

    /// Ends it by SIGTERM and gives how it ended.
    @discardableResult
    package func stop(within limit: Duration = .seconds(40)) async -> CommandResult {
        process.signal(SIGTERM)
        return await process.result(within: limit)
    }
}
