import CCurl
import Glibc
import LayoverEngine
import Synchronization

/// Commands on their way to a worker's thread, and the descriptor that wakes it.
///
/// Posting costs a lock that is hardly ever contended; the descriptor is written only while the thread
/// sleeps or is about to.
final class Mailbox: Sendable {
    private struct State {
        var commands: [WorkerCommand] = []
        var isAsleep = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// eventfd(2). Watched edge-triggered, so nobody has to read it.
    let descriptor: CInt

    init() throws(UpstreamError) {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        guard descriptor >= 0 else {
            throw UpstreamError(
                code: .outOfResources, context: "Cannot create an eventfd.", osError: errno)
        }
    }

    deinit { close(descriptor) }

    /// Hands a command over; false when nobody will take it any more.
    func post(_ command: WorkerCommand) -> Bool {
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        if wakes { eventfd_write(descriptor, 1) }
        return isTaken
    }

    /// Hands over the commands of one turn of the loop and empties `commands`; false as above.
    func post(all commands: inout [WorkerCommand]) -> Bool {
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            if state.commands.isEmpty {
                swap(&state.commands, &commands)
            } else {
                state.commands.append(contentsOf: commands)
                commands.removeAll(keepingCapacity: true)
            }
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        if wakes { eventfd_write(descriptor, 1) }
        return isTaken
    }

    /// Swaps the posted commands with `commands`, which is empty.
    func take(into commands: inout [WorkerCommand]) {
        state.withLock { swap(&$0.commands, &commands) }
    }

    /// Says that the thread goes to sleep; false when there is something to do first.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    func wakeUp() {
        state.withLock { $0.isAsleep = false }
    }

    /// Refuses commands from now on and returns those that nobody took.
    func close() -> [WorkerCommand] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }

    private func close(_ descriptor: CInt) { _ = Glibc.close(descriptor) }
}

/// What a worker is asked to do.
enum WorkerCommand: Sendable {
    case start(UpstreamAttempt)
    case cancel(UpstreamAttempt)
    case cancelIfConnecting(UpstreamAttempt)
    case resumeReceiving(UpstreamAttempt)
    /// A body that had no bytes to send may have some now. The transfer is named by slot and serial, not by reference: the body holds the
    /// closure that posts this command, and a reference would keep the request of the body alive.
    case resumeSending(slot: Int, serial: UInt64)
    /// The time is that of the call, on `MonotonicClock`.
    case networkChanged(at: UInt64)
    /// These clients have closed their connections.
    case clientsLeft(Set<Int>)
    /// The resolver has an answer that this worker asked for.
    case nameAnswered(String, NameAnswer)
    case ping(@Sendable () -> Void)
    case shutDown
}
