import NIOPosix
import Synchronization

/// The threads that touch the disk for the cache. Of its own: checking a big body must not keep a request's body waiting.
final class CacheThreads: Sendable {
    private struct State {
        var underWay = 0
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let pool: NIOThreadPool
    private let state = Mutex(State())

    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
    }

    /// Runs `work` soon, or `orElse` when the cache is closed; on a thread of the pool, never from within the call.
    func submit(_ work: @escaping @Sendable () -> Void, orElse: @escaping @Sendable () -> Void = {}) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.underWay += 1 }
            return state.isClosed
        }
        if isClosed { return pool.submit { _ in orElse() } }
        let item = Item(work: work, orElse: orElse)
        pool.submit { [self] itemState in
            if case .active = itemState { item.take()?.work() } else { item.take()?.orElse() }
            let waiters = state.withLock { state in
                state.underWay -= 1
                guard state.underWay == 0 else { return [CheckedContinuation<Void, Never>]() }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Waits until nothing is under way. Objects that the finished work held have been released by then.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.underWay > 0 { state.waiters.append(continuation) }
                return state.underWay == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Takes nothing more, finishes what it has, and ends.
    func close() async {
        await waitUntilIdle()
        state.withLock { $0.isClosed = true }
        await waitUntilIdle()
        try? await pool.shutdownGracefully()
    }

    /// Work that is released as soon as it is done: the pool keeps its own closure a moment longer.
    private final class Item: Sendable {
        typealias Parts = (work: @Sendable () -> Void, orElse: @Sendable () -> Void)

        private let parts: Mutex<Parts?>

        init(work: @escaping @Sendable () -> Void, orElse: @escaping @Sendable () -> Void) { parts = Mutex((work, orElse)) }

        func take() -> Parts? {
            parts.withLock { parts in
                defer { parts = nil }
                return parts
            }
        }
    }
}
