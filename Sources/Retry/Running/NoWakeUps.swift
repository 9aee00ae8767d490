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
