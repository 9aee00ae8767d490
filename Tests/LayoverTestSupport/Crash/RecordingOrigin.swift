import Foundation
import Glibc

/// One run of `Tests/Fixtures/recording_origin.py`: an origin that outlives the proxy and writes down what reached it.
package final class RecordingOrigin: Sendable {
    /// A line of its log, in the order in which things happened.
    package enum Event: Sendable {
        /// The head of a request has arrived, for the `arrival`-th time.
        case head(id: String, arrival: Int)
        /// The body of the request was read; `isWhole`: the body equals the one that the client made.
        case body(id: String, length: Int, isWhole: Bool)
        /// A response began.
        case answered(id: String, status: Int)
    }

    private struct Ports: Sendable, Codable {
        var port: Int
        var control: Int
    }

    package let port: Int
    private let control: Int
    private let process: RunningProcess
    private let log: URL

    private init(_ ports: Ports, process: RunningProcess, log: URL) {
        port = ports.port
        control = ports.control
        self.process = process
        self.log = log
    }

    /// - Parameter resets: How many of a hundred connections it resets before it has read anything.
    package static func start(port: ReservedPort, seed: UInt64 = 0, resets: Int = 0) async throws -> RecordingOrigin {
        let folder = try TemporaryFolder()
        let log = folder.file("log")
        let portFile = folder.file("port")
        let process = try Command(
            "/usr/bin/python3",
            [
                "-B", Fixtures.path("recording_origin.py"), "--port", String(port.number), "--port-file", portFile.path,
                "--log", log.path, "--seed", String(seed), "--resets", String(resets),
            ]
        ).start(in: folder)
        let ports = try await FolderWatch(folder.url).first("the recording origin listens") {
            if process.hasEnded { throw ProcessError("The recording origin ended: \(process.errors)") }
            return (try? Data(contentsOf: portFile)).flatMap { try? JSONDecoder().decode(Ports.self, from: $0) }
        }
        return RecordingOrigin(ports, process: process, log: log)
    }

    /// Resets every connection and refuses new ones.
    package func goDown() throws { try order("down") }

    package func comeUp() throws { try order("up") }

    private func order(_ word: String) throws {
        let connection = try RawConnection(port: control)
        try connection.send(word + "\n")
        _ = try connection.receive(by: Deadline(in: .seconds(60)))
    }

    /// The events that the origin has recorded so far.
    package func events() throws -> [Event] {
        // The last line may not be whole yet.
        guard let data = try? Data(contentsOf: log), let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return try data[..<end].split(separator: UInt8(ascii: "\n")).map(Self.event)
    }

    private static func event(_ line: Data) throws -> Event {
        let facts = try JSONSerialization.jsonObject(with: line) as? [Any] ?? []
        guard facts.count >= 4, let name = facts[0] as? String, let id = facts[1] as? String, let arrival = facts[2] as? Int
        else { throw ProcessError("The recording origin wrote \(String(decoding: line, as: UTF8.self))") }
        switch name {
        case "head": return .head(id: id, arrival: arrival)
        case "body": return .body(id: id, length: facts[3] as? Int ?? -1, isWhole: facts[4] as? Bool ?? false)
        default: return .answered(id: id, status: facts[3] as? Int ?? -1)
        }
    }
}

/// A request of the tests of tickets, with the body that the recording origin knows by its id.
package struct DurableRequest: Sendable {
    package var id: String
    package var port: Int
    package var method: String
    package var fields: [String]
    package var bodyByteCount: Int

    package init(id: String, port: Int, method: String = "POST", fields: [String], bodyByteCount: Int = 100) {
        self.id = id
        self.port = port
        self.method = method
        self.fields = fields
        self.bodyByteCount = bodyByteCount
    }

    package var text: String {
        let line = "\(id)\n"
        let body = String(repeating: line, count: bodyByteCount / line.utf8.count + 1).prefix(bodyByteCount)
        let lines = [
            "\(method) http://127.0.0.1:\(port)/\(id) HTTP/1.1", "Host: 127.0.0.1:\(port)", "X-Id: \(id)",
            "Connection: close", "Content-Length: \(bodyByteCount)",
        ]
        return (lines + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
