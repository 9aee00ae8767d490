import Synchronization

/// The end of a process: told once, waited for by any number of tasks.
final class Ending: Sendable {
    private enum State {
        case running([CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    private let state = Mutex(State.running([]))

    var status: Int32? {
        state.withLock { state in
            if case .ended(let status) = state { status } else { nil }
        }
    }

    func reached(_ status: Int32) {
        let waiting = state.withLock { state -> [CheckedContinuation<Int32, Never>] in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(status)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }

    func wait() async -> Int32 {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state -> Int32? in
                switch state {
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                case .ended(let status):
                    return status
                }
            }
            if let status { continuation.resume(returning: status) }
        }
    }
}
