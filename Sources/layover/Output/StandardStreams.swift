import Foundation
import Synchronization

/// Lines on standard output.
enum StandardOutput {
    static func write(_ lines: [String]) {
        for line in lines { print(line) }
        // The reader of a pipe gets each line at once.
        fflush(nil)
    }

    static func write(_ line: String) { write([line]) }
}

/// Lines for people on standard error, in order with those of the log.
enum StandardError {
    /// Measured once: whether it is a terminal does not change while the program runs.
    private static let terminal = Terminal.standardError()

    /// Returns at once. The end of the process waits for it to be written (`LogLines.flush`).
    static func write(_ line: String) { LogLines.standardError.write(line) }

    static func error(_ message: String) { write(line("error", message, terminal)) }
    static func warning(_ message: String) { write(line("warning", message, terminal)) }

    /// The message may quote text from elsewhere. Its line breaks stay, because usage texts have some.
    static func line(_ kind: String, _ message: String, _ terminal: Terminal) -> String {
        terminal.colored("\(kind):", as: kind) + " " + safeLines(message)
    }

    static func safeLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { Terminal.safe(String($0)) }.joined(separator: "\n")
    }
}

/// One line on standard error that tells how far a long command is. Only a terminal gets it.
///
/// It is drawn over itself, ten times a second at most, and gone at the end, so that results and errors stand alone.
final class ProgressLine: Sendable {
    private static let interval: Duration = .milliseconds(100)

    private struct Drawn {
        var at: ContinuousClock.Instant?
        var isVisible = false
    }

    private let terminal: Terminal
    private let write: @Sendable (String) -> Void
    private let drawn = Mutex(Drawn())

    init(
        terminal: Terminal = .standardError(),
        write: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data($0.utf8)) }
    ) {
        (self.terminal, self.write) = (terminal, write)
    }

    /// Whether a person sees the line.
    var isShown: Bool { terminal.isInteractive }

    func update(_ text: String, now: ContinuousClock.Instant = .now) {
        guard isShown else { return }
        let isDue = drawn.withLock { drawn in
            guard drawn.at.map({ now - $0 >= Self.interval }) ?? true else { return false }
            (drawn.at, drawn.isVisible) = (now, true)
            return true
        }
        // The last column stays empty: some terminals begin a new line there. Erase to the end of the line: ECMA-48 EL.
        if isDue { write("\r" + Table.cut(Terminal.safe(text), to: max(1, (terminal.width ?? 80) - 1)) + "\u{1B}[K") }
    }

    func clear() {
        let wasVisible = drawn.withLock { drawn in
            defer { drawn.isVisible = false }
            return drawn.isVisible
        }
        if wasVisible { write("\r\u{1B}[K") }
    }
}
