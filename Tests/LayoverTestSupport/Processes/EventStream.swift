import Foundation

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
        let deadline = Deadline(in: .seconds(10))
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
    package func next(_ name: String, holding parts: String..., within limit: Duration = .seconds(20)) throws -> Event {
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
