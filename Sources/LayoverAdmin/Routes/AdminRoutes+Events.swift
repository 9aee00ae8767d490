import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import LayoverEngine
import NIOCore
import ServiceLifecycle

/// The event stream (WHATWG HTML, section Server-sent events).
///
/// A slow reader costs nothing but its connection: events wait in the engine's log, one copy for all readers. A reader that
/// has missed events which the log no longer has gets a snapshot that says so, and continues from there.
extension AdminRoutes {
    func events(_ request: Request) throws -> Response {
        // A browser cannot set the field for its first connection; when it connects again by itself, the field is the newer.
        let parameters = try QueryParameters(request.uri.query, known: ["after"])
        let after = (request.headers[.lastEventID] ?? parameters["after"]).flatMap(number(ofEvent:))
        let view = view(for: request)
        let body = ResponseBody { writer in
            let watcher = await engine.watch()
            do {
                // A stream without an end would keep the process from ending.
                try await withGracefulShutdownHandler {
                    var position = after ?? 0
                    if after == nil {
                        position = try await writeSnapshot(isLost: false, view, to: &writer)
                    } else if await engine.knowsEvents(after: position) {
                        try await writer.write(ByteBuffer(string: ": resumed\n\n"))
                    }
                    try await follow(watcher, after: position, view, writer: &writer)
                } onGracefulShutdown: {
                    Task { await engine.unwatch(watcher) }
                }
            } catch {
                await engine.unwatch(watcher)
                throw error
            }
            await engine.unwatch(watcher)
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    // MARK: Numbers

    /// The number means nothing to another run of the process, so it does not go alone.
    func id(ofEvent number: UInt64) -> String { "\(run)-\(number)" }

    private func number(ofEvent id: String) -> UInt64? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == run else { return nil }
        return UInt64(parts[1])
    }

    // MARK: Following

    private enum Turn: Sendable {
        case events(EventTurn)
        case beat
    }

    /// Writes events as they come, and a comment whenever there were none for a while.
    private func follow(
        _ watcher: Int, after number: UInt64, _ view: EntryView, writer: inout any ResponseBodyWriter
    ) async throws {
        var position = number
        try await withThrowingTaskGroup(of: Turn.self) { group in
            // Cancelling the wait for an event would end the watch, so that task outlives each beat.
            func awaitEvents(after position: UInt64) {
                group.addTask { .events(await engine.nextEvents(of: watcher, after: position)) }
            }
            func awaitBeat() {
                group.addTask {
                    try await Task.sleep(for: heartbeat)
                    return .beat
                }
            }
            awaitEvents(after: position)
            awaitBeat()
            defer { group.cancelAll() }
            while let turn = try await group.next() {
                switch turn {
                case .events(.events(let events)):
                    for event in events {
                        try await writer.write(bytes(of: event, view))
                        position = event.number
                    }
                    awaitEvents(after: position)
                case .events(.lost):
                    position = try await writeSnapshot(isLost: true, view, to: &writer)
                    awaitEvents(after: position)
                case .events(.ended): return
                case .beat:
                    awaitBeat()
                    try await writer.write(ByteBuffer(string: ": alive\n\n"))
                }
            }
        }
    }

    // MARK: Text

    private func bytes(of event: EngineEvent, _ view: EntryView) throws -> ByteBuffer {
        var bytes = ByteBuffer(string: "id: \(id(ofEvent: event.number))\nevent: \(event.name)\ndata: ")
        var text =
            switch event.content {
            case .entry(_, let entry): try JSONText.bytes(EntryDocument(entry, view))
            case .incident(_, let incident): try JSONText.bytes(IncidentDocument(incident, wall: wall, mayCommand: view.mayCommand))
            case .reachability(let view): try JSONText.bytes(ReachabilityDocument(view, wall: wall))
            case .reloaded(let report): try JSONText.bytes(ReloadDocument(report, wall: wall))
            case .rehearsals(let rehearsals):
                try JSONText.bytes(ListDocument(data: rehearsals.map { RehearsalDocument($0, wall: wall) }, nextCursor: nil))
            }
        bytes.writeBuffer(&text)
        bytes.writeString("\n\n")
        return bytes
    }

    /// The current state, in the form of a list. It is one line, which is written page by page, so that a slow reader keeps
    /// no more than a page in memory.
    ///
    /// - Parameter isLost: Whether events before it were lost to this reader.
    /// - Returns: The number of the last event before it. Changes during the writing come as events too.
    private func writeSnapshot(
        isLost: Bool, _ view: EntryView, to writer: inout any ResponseBodyWriter
    ) async throws -> UInt64 {
        let last = await engine.lastEventNumber
        try await writer.write(
            ByteBuffer(string: "id: \(id(ofEvent: last))\nevent: snapshot\ndata: {\"lost\":\(isLost),\"data\":["))
        var query = PendingQuery()
        query.limit = ListText.portionCount
        var counts: [EntryState: Int] = [:]
        var isFirst = true
        while true {
            let page = await engine.page(of: query)
            var bytes = ByteBuffer()
            for entry in page.entries {
                if !isFirst { bytes.writeString(",") }
                isFirst = false
                bytes.writeImmutableBuffer(try JSONText.bytes(EntryDocument(entry, view)))
                counts[entry.state, default: 0] += 1
            }
            try await writer.write(bytes)
            guard let cursor = page.nextCursor else { break }
            query.cursor = cursor
        }
        var tail = ByteBuffer(string: "],\"counts\":")
        tail.writeImmutableBuffer(try JSONText.bytes(StateCounts.document(counts)))
        tail.writeString(",\"incidents\":[")
        try await writer.write(tail)
        try await ListText(separator: ",").write(await engine.incidents(), to: &writer) {
            IncidentDocument($0, wall: wall, mayCommand: view.mayCommand)
        }
        tail = ByteBuffer(string: "],\"nextCursor\":null,\"reachability\":")
        tail.writeImmutableBuffer(try JSONText.bytes(ReachabilityDocument(await engine.reachabilityView(), wall: wall)))
        tail.writeString(",\"rehearsals\":")
        tail.writeImmutableBuffer(
            try JSONText.bytes(await engine.currentRehearsals().map { RehearsalDocument($0, wall: wall) }))
        tail.writeString("}\n\n")
        try await writer.write(tail)
        return last
    }
}
