import Synchronization

/// A source of wake-ups that any number of operations can listen to at once.
///
/// An `AsyncStream` serves one reader only. Keep one `WakeSignal` per thing that can come back, send to it
/// where that is noticed, and pass it as `wakeOn` wherever something waits.
///
/// ```swift
/// let reachability = WakeSignal()
/// monitor.onChange = { isReachable in if isReachable { reachability.send() } }
/// let answer = try await retry(policy, wakeOn: reachability) { _ in try await fetch() }
/// ```
public final class WakeSignal: AsyncSequence, Sendable {
    public typealias Element = Void

    private let listeners = Broadcast<Void>()

    /// Makes a signal that nobody has sent yet.
    public init() {}

    /// Wakes everybody who listens now. Nothing is kept for those who begin to listen later, and a
    /// listener that is slow finds several signals as one.
    public func send() { listeners.send(()) }

    /// Begins to listen.
    public func makeAsyncIterator() -> AsyncStream<Void>.Iterator {
        listeners.stream(buffering: .bufferingNewest(1)).makeAsyncIterator()
    }
}

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

/// A sequence that never wakes anybody: the wait ends at the timer alone.
public struct NoWakeUps: AsyncSequence, AsyncIteratorProtocol, Sendable {
    public typealias Element = Never

    /// Makes the empty sequence.
    public init() {}

    /// Ends at once.
    public func next() async -> Never? { nil }

    /// Itself.
    public func makeAsyncIterator() -> NoWakeUps { self }
}
