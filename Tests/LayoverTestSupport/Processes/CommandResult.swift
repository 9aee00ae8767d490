/// How a process ended and what it printed.
package struct CommandResult: Sendable, CustomStringConvertible {
    /// The exit code; of a process that a signal ended, minus the signal's number.
    package var status: Int32
    package var output: String
    package var errors: String
    /// True if the program was killed at its deadline.
    package var timedOut: Bool

    package var description: String {
        "ended with \(status)\(timedOut ? " (killed at its deadline)" : "")\noutput: \(output.prefix(2000))\nerrors: \(errors.suffix(2000))"
    }
}
