/// Performs what a policy says: the one loop behind every way to retry in this library.
struct RetryRun<C: Clock, Generator: RandomNumberGenerator> where C.Duration == Duration {
    let policy: RetryPolicy
    let clock: C
    var generator: Generator

    /// Runs the operation until it succeeds or the policy gives up, with a listener for wake-ups beside it.
    nonisolated(nonsending) mutating func outcome<Output, Failure: Error, Wake: AsyncSequence & Sendable>(
        wakeOn wake: Wake,
        of operation: nonisolated(nonsending) (RetryAttempt) async throws(Failure) -> Output
    ) async -> RetryOutcome<Output, Failure> {
        if Wake.self == NoWakeUps.self { return await outcome(bell: nil, of: operation) }
        let bell = WakeBell()
        // The iterator is made here and not by the listener, which starts whenever a thread is free: no
        // wake-up from the first attempt on may be missed.
        let iterator = iterator(of: wake)
        // Cancelled and awaited when this function returns.
        async let _: Void = listen(to: iterator, ringing: bell)
        return await outcome(bell: bell, of: operation)
    }

    private nonisolated(nonsending) mutating func outcome<Output, Failure: Error>(
        bell: WakeBell?, of operation: nonisolated(nonsending) (RetryAttempt) async throws(Failure) -> Output
    ) async -> RetryOutcome<Output, Failure> {
        let start = clock.now
        var attempt = RetryAttempt(number: 1, lastError: nil)
        var grant: RetryBudget.Grant?
        policy.budget?.operationStarted()
        while true {
            bell?.silence()
            let failure: Failure
            do throws(Failure) {
                defer { giveBack(grant) }
                return .success(try await operation(attempt))
            } catch {
                failure = error
            }
            if Task.isCancelled { return .cancelled(failure) }
            switch await pause(after: failure, attempt: attempt.number, since: start, bell: bell) {
            case .goOn(let newGrant): grant = newGrant
            case .giveUp(let reason): return .gaveUp(failure, reason)
            case .cancelled: return .cancelled(failure)
            }
            attempt = RetryAttempt(number: attempt.number + 1, lastError: failure)
        }
    }

    private func giveBack(_ grant: RetryBudget.Grant?) {
        if let grant { policy.budget?.retryEnded(grant) }
    }
}

/// A new iterator belongs to nobody yet, and so it may go to another task.
private func iterator<Wake: AsyncSequence & Sendable>(of wake: Wake) -> sending Wake.AsyncIterator {
    wake.makeAsyncIterator()
}

/// Rings for each element, until the sequence ends or throws.
private func listen<Iterator: AsyncIteratorProtocol>(
    to iterator: sending Iterator, ringing bell: WakeBell
) async {
    var iterator = iterator
    while (try? await iterator.next()) != nil { bell.ring() }
}
