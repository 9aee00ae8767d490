import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import NIOCore
import ServiceLifecycle

/// The event stream (WHATWG HTML, section Server-sent events).
extension AdminRoutes {
    func events(_ request: Request) throws -> Response {
        try refuseParameters(request)
        let after = request.headers[.lastEventID].flatMap(number(ofEvent:))
        let body = ResponseBody { writer in
            let watch = await engine.watch(after: after)
            // A stream without an end would keep the process from ending.
            try await withGracefulShutdownHandler {
                defer { Task { await engine.unwatch(watch.id) } }
                try await write(snapshot: watch.snapshot, last: watch.last, to: &writer)
                for event in watch.missed { try await writer.write(bytes(of: event)) }
                try await follow(watch.stream, writer: &writer)
            } onGracefulShutdown: {
                Task { await engine.unwatch(watch.id) }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    // MARK: Numbers

    /// The number means nothing to another run of the process, so it does not go alone.
    private func id(ofEvent number: UInt64) -> String { "\(run)-\(number)" }

    private func number(ofEvent id: String) -> UInt64? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == run else { return nil }
        return UInt64(parts[1])
    }

    // MARK: Following

    private enum Turn: Sendable {
        case event(EngineEvent?)
        case beat
    }

    /// Writes events as they come, and a comment whenever there were none for a while.
    private func follow(_ stream: AsyncStream<EngineEvent>, writer: inout any ResponseBodyWriter) async throws
    {
        try await withThrowingTaskGroup(of: Turn.self) { group in
            // Cancelling the wait for an event would end the stream, so that task outlives each beat.
            func awaitEvent() {
                group.addTask {
                    var events = stream.makeAsyncIterator()
                    return .event(await events.next())
                }
            }
            func awaitBeat() {
                group.addTask {
                    try await Task.sleep(for: heartbeat)
                    return .beat
                }
            }
            awaitEvent()
            awaitBeat()
            defer { group.cancelAll() }
            while let turn = try await group.next() {
                switch turn {
                case .event(let event?):
                    awaitEvent()
                    try await writer.write(bytes(of: event))
                case .event(nil): return
                case .beat:
                    awaitBeat()
                    try await writer.write(ByteBuffer(string: ": alive\n\n"))
                }
            }
        }
    }

    // MARK: Text

    private func bytes(of event: EngineEvent) throws -> ByteBuffer {
        var bytes = ByteBuffer(string: "id: \(id(ofEvent: event.number))\nevent: \(event.name)\ndata: ")
        var text =
            switch event.content {
            case .entry(_, let entry): try JSONText.bytes(EntryDocument(entry, wall: wall))
            case .incident(_, let incident): try JSONText.bytes(IncidentDocument(incident, wall: wall))
            case .reachability(let view): try JSONText.bytes(ReachabilityDocument(view, wall: wall))
            case .reloaded(let report): try JSONText.bytes(ReloadDocument(report, wall: wall))
            }
        bytes.writeBuffer(&text)
        bytes.writeString("\n\n")
        return bytes
    }

    /// All that stands, in the form of a list, for somebody who has seen nothing yet. It is one line, which
    /// is written in pieces.
    private func write(
        snapshot: [Entry]?, last: UInt64, to writer: inout any ResponseBodyWriter
    ) async throws {
        guard let snapshot else { return try await writer.write(ByteBuffer(string: ": resumed\n\n")) }
        var query = PendingQuery()
        query.limit = nil
        let entries = query.page(of: snapshot).entries
        let counts = Dictionary(entries.map { ($0.state, 1) }, uniquingKeysWith: +)
        // Read after the watch began: a later change comes as an event too.
        let view = ReachabilityDocument(await engine.reachabilityView(), wall: wall)
        let incidents = await engine.incidents()
        var head = ByteBuffer(string: "id: \(id(ofEvent: last))\nevent: snapshot\ndata: {\"counts\":")
        head.writeImmutableBuffer(try JSONText.bytes(StateCounts.document(counts)))
        head.writeString(",\"data\":[")
        try await writer.write(head)
        let list = ListText(separator: ",")
        try await list.write(entries, to: &writer) { EntryDocument($0, wall: wall) }
        try await writer.write(ByteBuffer(string: "],\"incidents\":["))
        try await list.write(incidents, to: &writer) { IncidentDocument($0, wall: wall) }
        var tail = ByteBuffer(string: "],\"nextCursor\":null,\"reachability\":")
        tail.writeImmutableBuffer(try JSONText.bytes(view))
        tail.writeString("}\n\n")
        try await writer.write(tail)
    }
}
