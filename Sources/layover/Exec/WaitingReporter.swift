import Foundation
import LayoverAdmin

/// Tells on a terminal what the command waits for: a client of the event stream of its proxy.
///
/// A shared proxy cannot tell whose request it is: all that begin while the command runs are told.
actor WaitingReporter {
    /// Before it connects again. Default: 1 s.
    private static let reconnectDelay: Duration = .seconds(1)

    private let client: AdminClient
    /// Times of the admin API have whole milliseconds.
    private let startedAt = Date(timeIntervalSinceNow: -0.001)
    private let start = ContinuousClock.now
    private let write: @Sendable (String) -> Void
    private var report = WaitingReport()
    private var alarm: Task<Void, Never>?

    init(_ client: AdminClient, write: @escaping @Sendable (String) -> Void = { NoticeLine.write($0) }) {
        (self.client, self.write) = (client, write)
    }

    /// Follows the stream until the task is cancelled, or the proxy does not let it.
    nonisolated func run() async {
        while !Task.isCancelled {
            var reader = EventReader()
            do throws(CommandFailure) {
                try await client.lines(of: .events) { line in
                    if let event = reader.take(line) { await self.take(event) }
                }
            } catch {
                // The reporter ends silently, because its failure does not concern the command.
                guard error.code == .unreachable else { return }
            }
            try? await Task.sleep(for: Self.reconnectDelay)
        }
    }

    /// How long the end of the command waits for the last line. Default: 300 ms.
    private static let lastLineMax: Duration = .milliseconds(300)

    /// Waits for the line that ends an open one: a command may end sooner than the event of its last response comes.
    func finish() async {
        let deadline = now + Self.lastLineMax
        while report.isOpen, now < deadline { try? await Task.sleep(for: .milliseconds(5)) }
    }

    private func take(_ event: EventReader.Event) {
        let decoder = JSONDecoder()
        let data = Data(event.data.utf8)
        let entries =
            event.name == "snapshot"
            ? (try? decoder.decode(PendingDocument.self, from: data))?.data ?? []
            : event.name.hasPrefix("request.") ? [try? decoder.decode(EntryDocument.self, from: data)].compactMap(\.self) : []
        for entry in entries where isOurs(entry) {
            if let line = report.take(entry, hasEnded: event.name == "request.ended", now: now) { write(line) }
        }
        setAlarm()
    }

    private func isOurs(_ entry: EntryDocument) -> Bool {
        TimeText.date(entry.createdAt).map { $0 >= startedAt } ?? true
    }

    private var now: Duration { ContinuousClock.now - start }

    private func setAlarm() {
        alarm?.cancel()
        guard let at = report.nextDueAt else { return }
        alarm = Task {
            try? await Task.sleep(until: start + at, clock: .continuous)
            if !Task.isCancelled { sayWhatIsDue() }
        }
    }

    private func sayWhatIsDue() {
        for line in report.due(now: now) { write(line) }
        setAlarm()
    }
}

/// A line of Layover's own among the output of a command on a terminal.
enum NoticeLine {
    /// Writes it, unless the command has the whole screen (an editor, a prompt that edits lines): there it would only disturb.
    static func write(_ text: String) {
        let terminal = Terminal.standardError()
        guard !isRaw(STDERR_FILENO) else { return }
        let line = Table.cut(Terminal.safe("layover: \(text)"), to: max(1, (terminal.width ?? 80) - 1))
        // A line that is drawn over itself, such as a progress bar, is replaced (ECMA-48 EL).
        StandardError.write(terminal.isInteractive ? "\r\(line)\u{1B}[K" : line)
    }

    /// Whether the terminal hands every key over at once (termios(3)).
    static func isRaw(_ descriptor: Int32) -> Bool {
        var state = termios()
        return tcgetattr(descriptor, &state) == 0 && state.c_lflag & tcflag_t(ICANON) == 0
    }
}
