/// The order of reloads: one at a time, in the order in which they were asked for.
///
/// A reload reads the configuration and then hands it to each event loop and to the engine, and waits for each of them.
/// If a second one began meanwhile, the two could reach the loops in different orders, and a loop would stay for good on
/// what the others had left. So a reload begins only once the one before it has reached every loop, and it reads the
/// configuration when it begins: the last one to begin reads what is newest, and is the last one for every loop.
///
/// States and their exits:
/// - `idle`: no reload is under way. `asked` → `running(waiting: 0)`.
/// - `running(waiting:)`: one is under way, and so many are behind it. `asked` → one more behind it.
///   `ended` → the next one runs, or `idle`.
package struct ReloadTurns: Sendable, Hashable {
    private enum State: Sendable, Hashable {
        case idle
        case running(waiting: Int)
    }

    /// The turn of a reload that was asked for.
    package enum Turn: Sendable, Hashable {
        case begins
        /// Until another reload has ended and it is the first of those that wait.
        case waits
    }

    private var state = State.idle

    package init() {}

    /// A reload was asked for.
    package mutating func asked() -> Turn {
        switch state {
        case .idle:
            state = .running(waiting: 0)
            return .begins
        case .running(let waiting):
            state = .running(waiting: waiting + 1)
            // mutant: reload-out-of-turn
            return .waits
        }
    }

    /// The reload under way has reached every loop.
    ///
    /// - Returns: Whether the first of those that wait begins now.
    package mutating func ended() -> Bool {
        switch state {
        case .idle:
            preconditionFailure("A reload ended, and none was under way.")
        case .running(waiting: 0):
            state = .idle
            return false
        case .running(let waiting):
            state = .running(waiting: waiting - 1)
            return true
        }
    }
}
