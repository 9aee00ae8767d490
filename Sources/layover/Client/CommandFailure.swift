/// The failure of a command: a sentence and an exit code.
struct CommandFailure: Error, Sendable, Equatable {
    enum Code: Int32, Sendable {
        /// Bad configuration or usage.
        case usage = 1
        /// The port is not open, or is not Layover's.
        case unreachable = 2
        /// The admin API said no.
        case refused = 3
        /// Ctrl-C, as shells count it: 128 and the number of SIGINT.
        case interrupted = 130
    }

    var code: Code
    var message: String
}
