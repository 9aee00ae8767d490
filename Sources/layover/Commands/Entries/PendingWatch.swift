import Foundation
import LayoverAdmin

/// Follows the event stream: a table drawn anew on a terminal, a line for each change elsewhere. It goes on when the proxy
/// has restarted.
struct PendingWatch {
    /// How long it waits before it connects again. Default: 1 second.
    private static let reconnectDelay: Duration = .seconds(1)

    let client: AdminClient
    var host: String?
    var state: String?
    var lane: String?
    var limit: Int?
    let isJSON: Bool

    func run() async throws(CommandFailure) {
        let terminal = Terminal.standardOutput()
        let screen = PendingScreen(
            host: host, states: state?.split(separator: ",").map(String.init), lane: lane, limit: limit)
        let isDrawn = terminal.isInteractive && !isJSON
        // Drawing at most a few times a second keeps up with any number of events.
        let drawing = Task {
            while isDrawn, !Task.isCancelled {
                // Measured each time: the terminal may have another size by now.
                await screen.draw(.standardOutput())
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
        defer { drawing.cancel() }
        while !Task.isCancelled {
            let failure = try await follow(screen, isDrawn: isDrawn)
            // A proxy that was there comes back; one that never was is an error.
            guard await screen.hasSnapshot else { throw failure }
            if await screen.connectionLost(failure.message), !isDrawn {
                StandardError.warning("\(failure.message); trying again")
            }
            try? await Task.sleep(for: Self.reconnectDelay)
        }
    }

    /// Follows one stream to its end.
    ///
    /// - Returns: Why it ended.
    /// - Throws: What trying again does not change.
    private func follow(_ screen: PendingScreen, isDrawn: Bool) async throws(CommandFailure) -> CommandFailure {
        var reader = EventReader()
        do throws(CommandFailure) {
            try await client.lines(of: .events) { line in
                guard let event = reader.take(line) else { return }
                let lines = try await screen.take(event)
                if isJSON {
                    StandardOutput.write(Self.object(event))
                } else if !isDrawn {
                    StandardOutput.write(lines)
                }
            }
        } catch {
            guard error.code == .unreachable else { throw error }
            return error
        }
        return CommandFailure(code: .unreachable, message: "the proxy closed the event stream")
    }

    /// The event as one object: its name and its data, which is JSON already.
    static func object(_ event: EventReader.Event) -> String {
        Terminal.safeJSON("{\"event\":\"\(event.name)\",\"data\":\(event.data)}")
    }
}

/// The entries of a watcher.
actor PendingScreen {
    private let host: String?
    private let states: [String]?
    private let lane: String?
    private let limit: Int?
    private var entries: [EntryDocument] = []
    /// Nothing is drawn before the first snapshot.
    private(set) var hasSnapshot = false
    /// Why there is no connection now.
    private var loss: String?
    private var hasChanged = false
    private var drawnAt = Date.distantPast
    private var drawnSize: [Int?] = []

    init(host: String?, states: [String]?, lane: String? = nil, limit: Int? = nil) {
        self.host = host
        self.lane = lane
        self.states = states
        self.limit = limit
    }

    /// Takes an event.
    ///
    /// - Returns: A line for each entry in it; after a reconnection, only for those that changed meanwhile.
    func take(_ event: EventReader.Event) throws -> [String] {
        (hasChanged, loss) = (true, nil)
        if event.name == "snapshot" {
            let known = Dictionary(entries.map { ($0.id, $0.revision) }) { first, _ in first }
            entries = try decoded(PendingDocument.self, event).data
            hasSnapshot = true
            return shown.filter { known[$0.id] != $0.revision }.map { Self.line("request.parked", $0) }
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

    /// - Returns: Whether there was a connection until now.
    func connectionLost(_ reason: String) -> Bool {
        defer { (hasChanged, loss) = (true, reason) }
        return loss == nil
    }

    /// Draws what has changed; once a second all the same, because ages and countdowns go on.
    func draw(_ terminal: Terminal, now: Date = Date()) {
        let size = [terminal.width, terminal.height]
        guard hasSnapshot, hasChanged || size != drawnSize || now.timeIntervalSince(drawnAt) >= 1 else { return }
        (hasChanged, drawnAt, drawnSize) = (false, now, size)
        // Cursor home, erase below (ECMA-48 CUP and ED).
        StandardOutput.write("\u{1B}[H\u{1B}[J" + lines(terminal, now: now).joined(separator: "\n"))
    }

    /// As many entries as the terminal has lines for, and how many more there are.
    func lines(_ terminal: Terminal, now: Date) -> [String] {
        let shown = shown
        var room = limit ?? .max
        if let height = terminal.height {
            // The heading, a line for the rest or the loss, and the line that the cursor is on.
            room = min(room, max(1, height - 3 - (loss == nil ? 0 : 1)))
        }
        let lines = EntryTable(entries: Array(shown.prefix(room)), now: now).lines(terminal)
        let notices = [EntryTable.rest(shown.count - room), loss.map { "\($0); trying again" }]
        return lines + notices.compactMap { $0.map { Table.cut(Terminal.safe($0), to: terminal.width ?? .max) } }
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
