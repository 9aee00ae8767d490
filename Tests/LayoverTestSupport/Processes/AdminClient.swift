import Foundation

/// Speaks to the admin API of one running proxy. Its calls block; use them on a thread of their own.
package struct AdminClient: Sendable {
    package let port: Int
    package let namespace: String?

    package init(port: Int, namespace: String? = nil) {
        self.port = port
        self.namespace = namespace
    }

    package func call(
        _ method: String, _ path: String, json: String? = nil, token: String? = nil, fields: [String] = []
    ) throws -> PlainResponse {
        let connection = try RawConnection(port: port, namespace: namespace)
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for field in fields { head += field + "\r\n" }
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        if let json {
            head += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
        }
        try connection.send(head + "\r\n" + (json ?? ""))
        return try PlainResponse(connection.receiveAll())
    }

    package func pending(_ query: String = "") throws -> PendingListing {
        let response = try call("GET", "/v1/pending\(query)")
        guard response.status == 200 else {
            throw ProcessError("The admin API answered \(response.status): \(response.text)")
        }
        return try JSONDecoder().decode(PendingListing.self, from: response.body)
    }

    /// Opens the event stream; it is open, with its snapshot under way, when this returns.
    package func events() throws -> EventStream {
        try EventStream(port: port, namespace: namespace)
    }

    /// Waits until the pending set satisfies `condition`. Every event of the stream is a reason to look again.
    package func waitForPending(
        _ what: String, within limit: Duration, _ condition: (PendingListing) throws -> Bool
    ) throws -> PendingListing {
        let deadline = Deadline(in: limit)
        let events = try events()
        while true {
            let listing = try pending()
            if try condition(listing) { return listing }
            do {
                _ = try events.next(by: deadline)
            } catch {
                throw ProcessError("\(what): not within \(limit). Pending: \(listing)")
            }
        }
    }
}

/// The response of `GET /v1/pending`, as far as the tests look at it.
package struct PendingListing: Sendable, Codable {
    package struct Entry: Sendable, Codable {
        package struct LastFailure: Sendable, Codable {
            package var kind: String
            package var phase: String
            package var evidence: String
            package var message: String
        }

        /// How far a response is that broke off.
        package struct Resume: Sendable, Codable {
            package var done: Int
            package var total: Int
            package var times: Int
        }

        package var id: String
        package var ticket: String?
        package var state: String
        package var waitingFor: String?
        package var why: String?
        package var willGo: String?
        package var waitingOn: String?
        package var method: String
        package var url: String
        package var attempts: Int
        package var bodyReplayable: Bool
        package var lastFailure: LastFailure?
        package var resume: Resume?
    }

    package var data: [Entry]
    package var counts: [String: Int]

    /// How many entries are there that no attempt is under way for.
    package var waitingCount: Int { data.count { $0.state == "waiting" } }
}

/// The response of `GET /v1/incidents`, as far as the tests look at it.
package struct IncidentListing: Sendable, Codable {
    package struct Incident: Sendable, Codable {
        package struct Cause: Sendable, Codable {
            package var kind: String
            package var phase: String
        }

        package var id: String
        package var scope: String
        package var origin: String?
        package var cause: Cause?
        package var waiting: Int
        package var automaticLeft: Int?
        package var nextAttemptAt: String?
        package var manualOnly: Bool
        package var actions: [String]
    }

    package var data: [Incident]
}

/// The admin API's stream of server-sent events, read one by one. Blocks; use it on a thread of its own.
package final class EventStream {
    package struct Event: Sendable {
        package var name: String
        package var data: String
    }

    private let connection: RawConnection
    private var text = ""

    init(port: Int, namespace: String?) throws {
        connection = try RawConnection(port: port, namespace: namespace)
        try connection.send(
            "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: text/event-stream\r\n\r\n")
        let deadline = Deadline(in: .seconds(60))
        while !text.contains("\r\n\r\n") { try receive(by: deadline) }
        guard text.hasPrefix("HTTP/1.1 200") else { throw ProcessError("No event stream: \(text.prefix(300))") }
    }

    /// The next event; heartbeats are passed over.
    package func next(by deadline: Deadline) throws -> Event {
        while true {
            if let event = takeEvent() { return event }
            try receive(by: deadline)
        }
    }

    /// The next event of that name whose data holds all of `parts`.
    package func next(_ name: String, holding parts: String..., within limit: Duration = .seconds(45)) throws -> Event {
        let deadline = Deadline(in: limit)
        while true {
            let event = try next(by: deadline)
            if event.name == name, parts.allSatisfy(event.data.contains) { return event }
        }
    }

    private func receive(by deadline: Deadline) throws {
        guard let data = try connection.receive(by: deadline) else { throw ProcessError("The event stream ended.") }
        text += String(decoding: data, as: UTF8.self)
    }

    /// Takes one `event:` … `data:` … block out of what was received. Chunk sizes stand on lines of their own
    /// between the blocks and are passed over with every other line that is neither.
    private func takeEvent() -> Event? {
        guard let begin = text.range(of: "event:"),
            let data = text.range(of: "data:", range: begin.upperBound..<text.endIndex),
            let end = text.range(of: "\n", range: data.upperBound..<text.endIndex)
        else { return nil }
        let name = text[begin.upperBound...].prefix { $0 != "\n" && $0 != "\r\n" }
        let value = text[data.upperBound..<end.lowerBound]
        let event = Event(name: name.trimmingCharacters(in: .whitespaces), data: value.trimmingCharacters(in: .whitespaces))
        text.removeSubrange(..<end.upperBound)
        return event
    }
}
