import Foundation
import LayoverSystem

/// A password from standard input: typed twice without being shown on a terminal, or the one line that a program writes.
enum PasswordInput {
    static func read() throws(CommandFailure) -> [UInt8] {
        let password = isatty(STDIN_FILENO) == 1 ? try ask() : try readLine()
        do throws(PasswordError) {
            try PasswordHash.check(password)
        } catch {
            throw CommandFailure(code: .usage, message: error.description)
        }
        return password
    }

    private static func readLine() throws(CommandFailure) -> [UInt8] {
        let byteCountMax = PasswordHash.passwordByteCountMax + 3
        guard let given = try? FileHandle.standardInput.read(upToCount: byteCountMax) else {
            throw CommandFailure(code: .usage, message: "write the password to standard input")
        }
        var bytes = Array(given)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.contains(UInt8(ascii: "\n")) else {
            throw CommandFailure(code: .usage, message: "the password has more than one line")
        }
        return bytes
    }

    private static func ask() throws(CommandFailure) -> [UInt8] {
        let first = try line("Password: ")
        guard try line("Once more: ") == first else {
            throw CommandFailure(code: .usage, message: "the two passwords are not the same")
        }
        return first
    }

    /// What the terminal was before it was made silent, for an end by a signal. Of the process, as signals are.
    nonisolated(unsafe) private static var modesBefore = termios()

    private static let signalsThatEnd = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// A terminal that stays silent shows nothing of what is typed into the next shell.
    private static func restoreOnSignals() {
        for number in signalsThatEnd {
            signal(number) { number in
                // Both are in signal-safety(7).
                tcsetattr(STDIN_FILENO, TCSANOW, &PasswordInput.modesBefore)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    private static func line(_ prompt: String) throws(CommandFailure) -> [UInt8] {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw CommandFailure(code: .usage, message: "the terminal cannot be used")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        modesBefore = before
        restoreOnSignals()
        // Keys typed before the question are no part of the answer. The question comes last: who answers it at once finds all ready.
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        FileHandle.standardError.write(Data(prompt.utf8))
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            for number in signalsThatEnd { signal(number, SIG_DFL) }
            FileHandle.standardError.write(Data("\n".utf8))
        }
        guard let text = Swift.readLine(strippingNewline: true) else {
            throw CommandFailure(code: .usage, message: "no password was given")
        }
        return Array(text.utf8)
    }
}
