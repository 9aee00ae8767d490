/// Lines for people on standard error, in order with those of the log.
enum StandardError {
    /// Returns at once. The end of the process waits for it to be written (`LogLines.flush`).
    static func write(_ line: String) { LogLines.standardError.write(line) }
}
