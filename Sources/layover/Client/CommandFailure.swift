/// Why a command could not do what it was asked to: a sentence and an exit code.
struct CommandFailure: Error, Sendable, Equatable {
    enum Code: Int32, Sendable {
        /// Bad configuration or usage.
        case usage = 1
        /// Nobody listens there, or it is not Layover.
        case unreachable = 2
        /// The admin API said no.
        case refused = 3
    }

    var code: Code
    var message: String
}
