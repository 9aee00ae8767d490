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
