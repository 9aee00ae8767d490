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

extension RetryRun {
    /// What follows a pause.
    private enum PauseEnd {
        /// The next attempt, paid for by the grant if there is a budget.
        case goOn(RetryBudget.Grant?)
        case giveUp(RetryVerdict.Reason)
        case cancelled
    }

    /// Asks the policy and the budget, and waits.
    ///
    /// The budget is asked before the wait: who may not retry learns it now, not after half a minute. A
    /// retry therefore counts as under way while it waits.
    private nonisolated(nonsending) mutating func pause(
        after error: any Error, attempt: Int, since start: C.Instant, bell: WakeBell?
    ) async -> PauseEnd {
        let now = clock.now
        let verdict = policy.verdict(
            on: error, afterAttempt: attempt, elapsed: start.duration(to: now), using: &generator)
        let (wait, isTimerEnough): (Duration, Bool)
        switch verdict {
        case .giveUp(let reason): return .giveUp(reason)
        case .retryIfWoken where bell == nil: return .giveUp(.deadlineReached)
        case .retryIfWoken(let left): (wait, isTimerEnough) = (left, false)
        case .retry(let delay): (wait, isTimerEnough) = (delay, true)
        }
        let grant = policy.budget?.retryRequested()
        if policy.budget != nil, grant == nil { return .giveUp(.budgetExhausted) }
        switch await self.wait(until: now.advanced(by: wait), isNeeded: wait > .zero, bell: bell) {
        case .timer where isTimerEnough, .wakeUp:
            return .goOn(grant)
        case .timer:
            abandon(grant)
            return .giveUp(.deadlineReached)
        case .cancelled:
            abandon(grant)
            return .cancelled
        }
    }

    private func abandon(_ grant: RetryBudget.Grant?) {
        if let grant { policy.budget?.retryAbandoned(grant) }
    }

    private nonisolated(nonsending) func wait(
        until instant: C.Instant, isNeeded: Bool, bell: WakeBell?
    ) async -> WaitEnd {
        if !isNeeded || bell?.hasRung == true {
            // An operation that fails without ever suspending must not keep its thread from others.
            await Task.yield()
            return Task.isCancelled ? .cancelled : isNeeded ? .wakeUp : .timer
        }
        let end = await firstEnd(of: instant, bell)
        // Both may have ended because the task was cancelled.
        return Task.isCancelled ? .cancelled : end
    }

    private nonisolated(nonsending) func firstEnd(of instant: C.Instant, _ bell: WakeBell?) async -> WaitEnd {
        guard let bell else { return await sleep(until: instant, on: clock) }
        return await withTaskGroup(of: WaitEnd.self) { [clock] group in
            group.addTask { await sleep(until: instant, on: clock) }
            group.addTask {
                await bell.rung()
                return .wakeUp
            }
            defer { group.cancelAll() }
            return await group.next() ?? .cancelled
        }
    }
}

/// A clock's sleep throws only when its task is cancelled.
private func sleep<C: Clock>(until instant: C.Instant, on clock: C) async -> WaitEnd {
    do {
        try await clock.sleep(until: instant, tolerance: nil)
        return .timer
    } catch {
        return .cancelled
    }
}

/// How a run ended.
enum RetryOutcome<Output, Failure: Error> {
    case success(Output)
    /// With the error of the last attempt.
    case gaveUp(Failure, RetryVerdict.Reason)
    /// The task was cancelled after an attempt failed with this error.
    case cancelled(Failure)
}

/// What ended a wait.
enum WaitEnd: Sendable {
    case timer, wakeUp, cancelled
}
