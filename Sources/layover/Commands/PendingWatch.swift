import Foundation
import LayoverAdmin

/// Follows the event stream: a table drawn anew on a terminal, a line for each change elsewhere.
struct PendingWatch {
    let client: AdminClient
    let host: String?
    let state: String?
    let lane: String?
    let isJSON: Bool

    func run() async throws(CommandFailure) {
        var call = AdminCall("/v1/events")
        call.accept = "text/event-stream"
        let terminal = Terminal.standardOutput()
        let screen = PendingScreen(host: host, states: state?.split(separator: ",").map(String.init), lane: lane)
        // Drawing at most a few times a second keeps up with any number of events.
        let drawing = Task {
            guard terminal.isInteractive, !isJSON else { return }
            while !Task.isCancelled {
                await screen.draw(terminal)
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
        defer { drawing.cancel() }
        var reader = EventReader()
        try await client.lines(of: call) { line in
            guard let event = reader.take(line) else { return }
            let lines = try await screen.take(event)
            if isJSON {
                StandardOutput.write(Self.object(event))
            } else if !terminal.isInteractive {
                StandardOutput.write(lines)
            }
        }
        throw CommandFailure(code: .unreachable, message: "the proxy closed the event stream")
    }

    /// The event as one object: its name and its data, which is JSON already.
    static func object(_ event: EventReader.Event) -> String {
        "{\"event\":\"\(event.name)\",\"data\":\(event.data)}"
    }
}

/// The entries of a watcher.
actor PendingScreen {
    private let host: String?
    private let states: [String]?
    private let lane: String?
    private var entries: [EntryDocument] = []
    /// Nothing is drawn before the first snapshot.
    private var isDrawn = true

    init(host: String?, states: [String]?, lane: String? = nil) {
        self.host = host
        self.lane = lane
        self.states = states
    }

    /// Takes an event.
    ///
    /// - Returns: A line for each entry in it.
    func take(_ event: EventReader.Event) throws -> [String] {
        isDrawn = false
        if event.name == "snapshot" {
            entries = try decoded(PendingDocument.self, event).data
            return shown.map { Self.line("request.parked", $0) }
        }
        guard event.name.hasPrefix("request.") else { return [] }
        let entry = try decoded(EntryDocument.self, event)
        // The place of an entry is that of its arrival.
        if event.name == "request.ended" {
            entries.removeAll { $0.id == entry.id }
        } else if let index = entries.firstIndex(where: { $0.id == entry.id }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
        return isMeant(entry) ? [Self.line(event.name, entry)] : []
    }

    func draw(_ terminal: Terminal) {
        guard !isDrawn else { return }
        isDrawn = true
        // Cursor home, erase below (ECMA-48 CUP and ED).
        let lines = EntryTable(entries: shown, now: Date()).lines(terminal)
            .prefix(max(1, (terminal.height ?? .max) - 1))
        StandardOutput.write("\u{1B}[H\u{1B}[J" + lines.joined(separator: "\n"))
    }

    private var shown: [EntryDocument] { entries.filter(isMeant) }

    private func isMeant(_ entry: EntryDocument) -> Bool {
        (host.map { $0.lowercased() == entry.host.lowercased() } ?? true)
            && (states.map { $0.contains(entry.state) } ?? true)
            && (lane.map { $0 == entry.lane } ?? true)
    }

    private func decoded<Document: Decodable>(
        _ type: Document.Type, _ event: EventReader.Event
    ) throws(CommandFailure) -> Document {
        try AdminResponse(status: 200, body: Data(event.data.utf8)).decoded(type)
    }

    private static func line(_ name: String, _ entry: EntryDocument) -> String {
        let failure = entry.lastFailure.map { " \($0.kind)" } ?? ""
        return Terminal.safe(
            "\(entry.id.prefix(EntryTable.idCountMin)) \(name.dropFirst("request.".count)) \(entry.state) "
                + "\(entry.method) \(entry.url) tries=\(entry.attempts)\(failure)")
    }
}
