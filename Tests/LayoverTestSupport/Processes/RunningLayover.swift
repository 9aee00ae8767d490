package import Foundation
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
        environment: [String: String] = [:], namespace: String? = nil, within limit: Duration = .seconds(60)
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
    package static var binary: String { named ?? builds.appendingPathComponent("debug/layover").path }

    /// The binary that users get; LAYOVER_BINARY names another one.
    package static var releaseBinary: String { named ?? builds.appendingPathComponent("release/layover").path }

    private static var named: String? { ProcessInfo.processInfo.environment["LAYOVER_BINARY"] }

    /// The folder of debug and release builds.
    private static var builds: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
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
    package func exchange(_ request: String, within limit: Duration = .seconds(60)) async throws -> PlainResponse {
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
        let response = try await call("GET", "/v1/incidents")
        guard response.status == 200 else {
            throw ProcessError("The admin API answered \(response.status): \(response.text)")
        }
        return try JSONDecoder().decode(IncidentListing.self, from: response.body).data
    }

    @discardableResult
    package func waitForPending(
        _ what: String = "requests are pending", within limit: Duration = .seconds(45),
        _ condition: @escaping @Sendable (PendingListing) -> Bool
    ) async throws -> PendingListing {
        let admin = admin
        return try await onOwnThread { try admin.waitForPending(what, within: limit, condition) }
    }

    /// Waits until the monitor has seen that no link is left.
    package func waitUntilOffline(within limit: Duration = .seconds(45)) async throws {
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

/// Resources that the running proxy uses, read from /proc (proc(5)).
extension RunningLayover {
    /// Memory resident now, in bytes.
    package var residentByteCount: Int { statusByteCount("VmRSS:") }

    /// The most memory that was resident since the last `resetPeak`, in bytes.
    package var peakByteCount: Int { statusByteCount("VmHWM:") }

    package func resetPeak() throws {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(process.pid)/clear_refs"))
    }

    package var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count) ?? 0
    }

    package var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/task").count) ?? 0
    }

    /// How many descriptors it has once they are no more than these, or when the time is over. Each answer gives its loops a turn.
    package func settledDescriptorCount(atMost wanted: Int, within limit: Duration = .seconds(60)) async throws -> Int {
        let deadline = Deadline(in: limit)
        while descriptorCount > wanted, !deadline.hasPassed { _ = try await call("GET", "/livez") }
        return descriptorCount
    }

    private func statusByteCount(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) }.map { $0 * 1024 } ?? 0
    }
}

/// Tickets as their clients reach them.
extension RunningLayover {
    /// How a ticket stands; with `wait` (seconds) it may take until it is final or undecided.
    package func ticket(_ id: String, wait: Int = 0) async throws -> ShownTicket {
        let preference = wait > 0 ? "Prefer: wait=\(wait)\r\n" : ""
        let response = try await exchange("GET /.layover/tickets/\(id) HTTP/1.1\r\n\(own)\(preference)\r\n")
        guard response.status == 200 else { throw ProcessError("Ticket \(id): \(response.status) \(response.text)") }
        return try ShownTicket(response.body)
    }

    /// The response that a ticket brought.
    package func ticketResponse(_ id: String) async throws -> PlainResponse {
        try await exchange("GET /.layover/tickets/\(id)/response HTTP/1.1\r\n\(own)\r\n")
    }

    package func dropTicket(_ id: String) async throws -> PlainResponse {
        try await exchange("DELETE /.layover/tickets/\(id) HTTP/1.1\r\n\(own)\r\n")
    }

    /// The ids by which the admin port shows the entries of tickets.
    package func entries(of tickets: [String]) async throws -> Set<String> {
        var ids: Set<String> = []
        for ticket in tickets { ids.insert(try await entry(of: ticket)) }
        return ids
    }

    /// The id by which the admin port shows the entry of a ticket.
    package func entry(of ticket: String) async throws -> String { try await entry(ticket).id }

    /// The id of the ticket of an entry, which the admin port shows to callers with the token.
    package func ticketID(of entry: String) async throws -> String {
        let token = try String(contentsOf: folder.file("admin-token"), encoding: .utf8).trimmingCharacters(in: .newlines)
        guard let ticket = try await self.entry(entry, token: token).ticket else {
            throw ProcessError("\(entry) is no ticket.")
        }
        return ticket
    }

    private func entry(_ id: String, token: String? = nil) async throws -> PendingListing.Entry {
        let admin = admin
        let response = try await onOwnThread { try admin.call("GET", "/v1/pending/\(id)", token: token) }
        guard response.status == 200 else { throw ProcessError("Entry \(id): \(response.status) \(response.text)") }
        return try JSONDecoder().decode(PendingListing.Entry.self, from: response.body)
    }

    private var own: String { "Host: 127.0.0.1:\(proxyPort)\r\nConnection: close\r\n" }
}

extension PlainResponse {
    /// The id of the ticket that its `Location` names.
    package var ticket: String? {
        guard let location = field("Location"), let range = location.range(of: "/.layover/tickets/") else { return nil }
        return String(location[range.upperBound...])
    }
}

/// A ticket as its own address shows it, as far as the tests look at it.
package struct ShownTicket: Sendable, Equatable, Codable {
    package struct Response: Sendable, Equatable, Codable {
        package var status: Int
    }

    package var id: String
    package var state: String
    package var waitingFor: String?
    package var why: String?
    package var attempts: Int
    package var createdAt: String
    package var nextAttemptAt: String?
    package var expiresAt: String
    package var response: Response?

    package var isFinal: Bool { ["delivered", "cancelled", "expired", "failed"].contains(state) }

    /// Dates are read from two clocks at each look, so they may differ by a millisecond.
    package func isSameEnd(as other: ShownTicket) -> Bool {
        id == other.id && state == other.state && why == other.why && attempts == other.attempts
            && response == other.response
    }

    package init(_ json: Data) throws {
        self = try JSONDecoder().decode(ShownTicket.self, from: json)
    }
}
