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
