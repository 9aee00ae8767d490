import Foundation

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
