import Foundation
import Glibc

/// One run of `Tests/Fixtures/parent_proxy.py`: a parent proxy in a process of its own. Names that end in `.behind` are known to it alone.
package final class RunningParentProxy: Sendable {
    /// A line of its log.
    package struct Record: Sendable, Codable {
        package var method: String
        package var target: String
        /// Proxy-Authorization, or user and password of SOCKS.
        package var authorization: String?
        /// Names of the fields, in lower case.
        package var fields: [String]
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
    ///   - credentials: `user:password`; empty: none are required.
    ///   - answer: A response instead of opening a connection. Default (nil): the connection is opened.
    package static func start(
        _ scheme: String = "http", port: ReservedPort? = nil, credentials: String = "", answer: String? = nil,
        identity: TestAuthority.Identity? = nil
    ) async throws -> RunningParentProxy {
        let folder = try TemporaryFolder()
        let (portFile, log) = (folder.file("port"), folder.file("log"))
        var arguments = [
            "-B", Fixtures.path("parent_proxy.py"), "--port", String(port?.number ?? 0), "--port-file", portFile.path, "--log", log.path,
            "--scheme", scheme, "--credentials", credentials, "--answer", answer ?? "",
        ]
        if let identity { arguments += ["--certificate", identity.certificate, "--key", identity.key] }
        let process = try Command("/usr/bin/python3", arguments).start(in: folder)
        let number = try await FolderWatch(folder.url).first("the parent proxy listens") {
            if process.hasEnded { throw ProcessError("The parent proxy ended: \(process.errors)") }
            return Int((try? String(contentsOf: portFile, encoding: .utf8)) ?? "")
        }
        return RunningParentProxy(port: number, process: process, log: log)
    }

    /// Requests so far, in order.
    package var records: [Record] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
    }

    package func kill() async {
        process.signal(SIGKILL)
        _ = await process.result()
    }
}
