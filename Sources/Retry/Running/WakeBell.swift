import Synchronization

/// Tells one waiting run that a wake-up came.
///
/// Between `silence()` and the next wait the bell remembers that it was rung, so that a wake-up during an
/// attempt is not lost. One task waits at a time.
final class WakeBell: Sendable {
    private struct State {
        var hasRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Whether the bell was rung since it was silenced.
    var hasRung: Bool { state.withLock { $0.hasRung } }

    /// An attempt begins: it uses the way as it is now, so wake-ups before it say nothing new.
    func silence() { state.withLock { $0.hasRung = false } }

    func ring() {
        let waiter = state.withLock { state in
            state.hasRung = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns when the bell has been rung, or at once when the task is cancelled.
    func rung() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    // The cancellation below may have come first; it found nobody to resume.
                    guard !state.hasRung, !Task.isCancelled else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}
