import Synchronization

/// Sends each element to every stream that was made before, in one order for all.
///
/// Nothing is yielded under a lock, neither this one nor that of the caller. A task that is being cancelled
/// runs its cancellation handlers while the runtime holds the task's own lock, and a stream's handler comes here
/// to say goodbye; whoever yields to that task needs the same lock of the runtime. So elements are put
/// in order first, and one thread at a time hands them out.
///
/// A stream ends when its reader goes away or the broadcast is deinitialised.
final class Broadcast<Element: Sendable>: Sendable {
    typealias Reader = AsyncStream<Element>.Continuation

    private struct State {
        var readers: [Int: Reader] = [:]
        var nextNumber = 0
        /// In order, each with those who listened when it was sent.
        var outgoing: [(element: Element, readers: [Reader])] = []
        var isDelivering = false
    }

    private let state = Mutex(State())

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    /// How many streams are being read.
    var readerCount: Int { state.withLock { $0.readers.count } }

    /// Sends at once. Not to be called under a lock.
    func send(_ element: Element) {
        enqueue(element)
        deliver()
    }

    /// Puts an element in order. May be called under a lock; `deliver()` must follow after it.
    func enqueue(_ element: Element) {
        state.withLock { state in
            guard !state.readers.isEmpty else { return }
            state.outgoing.append((element, Array(state.readers.values)))
        }
    }

    /// Hands out what was put in order, unless another thread is at it: that one takes all. Not to be called
    /// under a lock.
    func deliver() {
        let isMine = state.withLock { state in
            guard !state.isDelivering else { return false }
            state.isDelivering = true
            return true
        }
        guard isMine else { return }
        while let next = nextOutgoing() {
            for reader in next.readers { reader.yield(next.element) }
        }
    }

    private func nextOutgoing() -> (element: Element, readers: [Reader])? {
        state.withLock { state in
            guard state.outgoing.isEmpty else { return state.outgoing.removeFirst() }
            state.isDelivering = false
            return nil
        }
    }

    /// A new stream of all elements sent from now on, after a first one if there is any.
    func stream(
        startingWith first: Element? = nil, buffering: Reader.BufferingPolicy
    ) -> AsyncStream<Element> {
        let (stream, reader) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: buffering)
        if let first { reader.yield(first) }
        let number = state.withLock { state in
            state.nextNumber += 1
            state.readers[state.nextNumber] = reader
            return state.nextNumber
        }
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }
}
