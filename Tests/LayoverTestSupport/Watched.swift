import Synchronization

/// A value that one side changes and the other waits for. Every wait has a deadline.
package final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextNumber = 0
    }

    private struct Waiter: Sendable {
        /// Looks at the value; returns whether it was what the waiter wants, after resuming it.
        var look: @Sendable (inout Value) -> Bool
        var giveUp: @Sendable () -> Void
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and lets those go on who wanted just that.
    package func update(_ change: @Sendable (inout Value) -> Void) {
        state.withLock { state in
            change(&state.value)
            for (number, waiter) in state.waiters.sorted(by: { $0.key < $1.key })
            where waiter.look(&state.value) {
                state.waiters[number] = nil
            }
        }
    }

    /// Waits until `pick` finds what it looks for; it may take it out of the value.
    ///
    /// - Parameters:
    ///   - what: Words for the error when it does not come in time.
    package func take<Picked: Sendable>(
        _ what: String, within limit: Duration = .seconds(45),
        _ pick: @escaping @Sendable (inout Value) -> Picked?
    ) async throws -> Picked {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let alarm = Task.detached {
            try await Task.sleep(for: limit)
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.giveUp()
        }
        defer { alarm.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let waiter = Waiter(
                look: { value in
                    guard let picked = pick(&value) else { return false }
                    continuation.resume(returning: picked)
                    return true
                },
                giveUp: { continuation.resume(throwing: WaitedTooLong(what: what)) })
            state.withLock { state in
                if !waiter.look(&state.value) { state.waiters[number] = waiter }
            }
        }
    }

    /// Waits until the value is as wanted.
    package func wait(
        _ what: String, within limit: Duration = .seconds(45),
        until isRight: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await take(what, within: limit) { isRight($0) ? () : nil }
    }
}

/// Something that a test waited for did not come.
package struct WaitedTooLong: Error, CustomStringConvertible {
    package var what: String

    package init(what: String) { self.what = what }

    package var description: String { "It did not come in time: \(what)." }
}
