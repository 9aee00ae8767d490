import Synchronization

extension RetryCoordinator {
    /// Runs an operation, and again after each wait here, until it succeeds.
    ///
    /// The caller sees nothing of the trouble but the time it takes.
    ///
    /// - Parameters:
    ///   - name: Told to the readers of ``failures``. Need not be unique.
    ///   - operation: Runs where the caller runs. Called for one attempt at a time.
    /// - Returns: What the first attempt that succeeded returned.
    /// - Throws: An error that is not waited out, as it was. `CancellationError` after ``cancel()``, or at
    ///   once when the task is cancelled while it waits.
    public nonisolated(nonsending) func run<Output>(
        _ name: String = "",
        operation: nonisolated(nonsending) (RetryAttempt) async throws -> Output
    ) async throws -> Output {
        try Task.checkCancellation()
        var member: RetryIncident.MemberID?
        defer { if let member { record { $0.operationEnded(member) } } }
        var attempt = RetryAttempt(number: 1, lastError: nil)
        while true {
            let mark = incident.now
            do {
                return try await operation(attempt)
            } catch {
                try Task.checkCancellation()
                guard !(error is CancellationError), isWorthWaiting(error) else { throw error }
                let id = member ?? state.withLock { $0.incident.makeMemberID() }
                member = id
                try await waitForCall(
                    after: FailedOperation(name: name, id: id, attempt: attempt.number, error: error),
                    since: mark)
                attempt = RetryAttempt(number: attempt.number + 1, lastError: error)
            }
        }
    }

    /// Reports the failure and waits until the operation may run again.
    ///
    /// When a reader of ``failures`` gets the failure, the operation already waits. So a call to retry in response to the failure
    /// is not lost.
    private nonisolated(nonsending) func waitForCall(
        after failure: FailedOperation, since mark: RetryIncident.CallMark
    ) async throws {
        let id = failure.id
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let mustWait = recordWithState { state in
                    // The cancellation below may have come first; it found nobody to resume.
                    guard !Task.isCancelled else { return nil }
                    state.waiters[id] = continuation
                    failed.enqueue(failure)
                    return state.incident.operationFailed(id, since: mark)
                }
                if !mustWait { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            // That the operation ended is recorded by the run itself.
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}
