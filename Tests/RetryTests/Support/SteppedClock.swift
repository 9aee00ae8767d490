import LayoverTestSupport
import Synchronization

/// A clock that stands still until a test moves it, and knows who waits for it.
final class SteppedClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var sinceStart: Duration

        func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
        func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.sinceStart < rhs.sinceStart }
    }

    private struct Sleeper: Sendable {
        var until: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// Continuations to resume after unlocking. Resuming under the lock could deadlock with a cancellation that waits
    /// for it.
    private final class Released: Sendable {
        private let sleepers = Mutex<[(CheckedContinuation<Void, any Error>, isCancelled: Bool)]>([])

        func add(_ continuation: CheckedContinuation<Void, any Error>, isCancelled: Bool) {
            sleepers.withLock { $0.append((continuation, isCancelled)) }
        }

        func resume() {
            for (continuation, isCancelled) in sleepers.withLock({ $0 }) {
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        }
    }

    private struct State: Sendable {
        var now = Instant(sinceStart: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var sleepCount = 0
    }

    private let state = Watched(State())
    private let lastNumber = Atomic(0)

    var now: Instant { state.value.now }
    var minimumResolution: Duration { .nanoseconds(1) }
    var sleeperCount: Int { state.value.sleepers.count }
    /// How often somebody began to wait, those included who were too late.
    var sleepCount: Int { state.value.sleepCount }

    // The ticks keep the house's check for sleeping tests quiet: this declares, it does not wait.
    func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                change { state, released in
                    state.sleepCount += 1
                    if Task.isCancelled {
                        released.add(continuation, isCancelled: true)
                    } else if deadline <= state.now {
                        released.add(continuation, isCancelled: false)
                    } else {
                        state.sleepers[number] = Sleeper(until: deadline, continuation: continuation)
                    }
                }
            }
        } onCancel: {
            change { state, released in
                guard let sleeper = state.sleepers.removeValue(forKey: number) else { return }
                released.add(sleeper.continuation, isCancelled: true)
            }
        }
    }

    /// Moves the clock and wakes those whose time has come.
    func advance(by duration: Duration) {
        change { state, released in
            state.now = state.now.advanced(by: duration)
            for (number, sleeper) in state.sleepers where sleeper.until <= state.now {
                state.sleepers[number] = nil
                released.add(sleeper.continuation, isCancelled: false)
            }
        }
    }

    private func change(_ change: @Sendable (inout State, Released) -> Void) {
        let released = Released()
        state.update { change(&$0, released) }
        released.resume()
    }

    /// Waits until so many wait for the clock, and says how long the first of them still has to.
    @discardableResult
    func sleepers(_ count: Int = 1) async throws -> Duration {
        try await state.take("\(count) sleepers") { state in
            guard state.sleepers.count == count else { return nil }
            return state.sleepers.values.map { state.now.duration(to: $0.until) }.min() ?? .zero
        }
    }
}
