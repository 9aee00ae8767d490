import Glibc
import Synchronization

/// Takes SIGINT (Ctrl-C) while a command is carried out in parts, so that it ends between two of them and can say what was done.
/// The second one ends the process at once.
struct Interruption {
    /// How often it came since `begin`. Of the process, as signals are.
    private static let count = Atomic<Int>(0)

    var hasCome: Bool { Self.count.load(ordering: .relaxed) > 0 }

    func begin() {
        // Also makes the counter exist before the handler uses it, which may run only what signal-safety(7) allows.
        Self.count.store(0, ordering: .relaxed)
        signal(SIGINT) { _ in
            if Interruption.count.add(1, ordering: .relaxed).newValue > 1 { _exit(CommandFailure.Code.interrupted.rawValue) }
        }
    }

    func end() { signal(SIGINT, SIG_DFL) }
}
