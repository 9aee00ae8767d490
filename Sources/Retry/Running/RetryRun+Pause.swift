extension RetryRun {
    /// What follows a pause.
    enum PauseEnd {
        /// The next attempt, paid for by the grant if there is a budget.
        case goOn(RetryBudget.Grant?)
        case giveUp(RetryVerdict.Reason)
        case cancelled
    }

    /// Asks the policy and the budget, and waits.
    ///
    /// The budget is asked before the wait: who may not retry learns it now, not after half a minute. A
    /// retry therefore counts as under way while it waits.
    nonisolated(nonsending) mutating func pause(
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
