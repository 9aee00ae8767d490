import Foundation
import LayoverTestSupport

/// Requests that become tickets, and what the origin sees of them.
extension Scene {
    /// Sends a request to the origin and gives what its client was told.
    func send(_ method: String, _ path: String, _ fields: [String], body: String = "x") async throws -> PlainResponse {
        let lines = ["\(method) \(url(path)) HTTP/1.1", "Host: x", "Connection: close", "Content-Length: \(body.utf8.count)"]
        return try await layover.exchange((lines + fields).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Sends one that must be accepted, and gives its ticket.
    func submit(_ path: String, method: String = "POST", _ fields: String..., body: String = "x") async throws -> String {
        let response = try await send(method, path, fields + ["Prefer: respond-async, wait=0"], body: body)
        guard response.status == 202, let ticket = response.ticket else {
            throw ProcessError("\(method) \(path): \(response.status) \(response.text)")
        }
        return ticket
    }

    /// The same store and the same origin, in a new process.
    func restarted() async throws -> Scene {
        Scene(layover: try await RunningLayover.start(in: layover.folder), root: root, port: port)
    }

    /// The same, after the process was killed.
    func killedAndRestarted() async throws -> Scene {
        await layover.kill()
        return try await restarted()
    }

    /// Somebody says that the network is there again.
    func networkAppears() async throws {
        _ = try await layover.call("PUT", "/v1/reachability", json: #"{"hint":"changed"}"#)
    }

    func command(_ command: String, _ ticket: String, json: String = "{}") async throws -> PlainResponse {
        try await layover.call("POST", "/v1/pending/\(ticket)/\(command)", json: json)
    }

    /// The files of bodies, once there are so many.
    func waitForBodies(_ count: Int) async throws {
        let spool = layover.folder.file("spool")
        _ = try await FolderWatch(spool).first("\(count) bodies on disk") {
            ((try? FileManager.default.contentsOfDirectory(atPath: spool.path)) ?? [])
                .count { $0.hasSuffix(".request") || $0.hasSuffix(".answer") } == count ? true : nil
        }
    }
}

extension RunningOrigin {
    /// Requests that the origin received, as `METHOD target`, in order.
    var requests: [String] { records.map { "\($0.method) \($0.target)" } }
}
