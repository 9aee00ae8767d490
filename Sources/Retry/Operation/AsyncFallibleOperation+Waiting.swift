extension AsyncFallibleOperation {
    /// Tries again as a policy says.
    ///
    /// The error type stays what it is, and so a cancelled task has no `CancellationError` to show for it: the
    /// wait ends at once and the operation fails with the error of its last attempt. The first attempt is
    /// made even in a cancelled task; the function itself sees the cancellation.
    ///
    /// - Parameters:
    ///   - policy: How often, how long, for which errors. Default: three attempts, ``DelaySchedule/standard``.
    ///   - clock: Measures the delays and the deadline. Default: `ContinuousClock`.
    ///   - wake: Makes the sequence whose elements end a wait. Called once for each call of the operation,
    ///     because most sequences serve one reader only. Default: none.
    public func retrying<C: Clock, Wake: AsyncSequence & Sendable>(
        _ policy: RetryPolicy = RetryPolicy(), clock: C = ContinuousClock(),
        wakeOn wake: @escaping @Sendable () -> Wake = { NoWakeUps() }
    ) -> Self where C.Duration == Duration {
        Self { input throws(Failure) in
            var run = RetryRun(policy: policy, clock: clock, generator: SystemRandomNumberGenerator())
            let outcome = await run.outcome(wakeOn: wake()) {
                (_: RetryAttempt) async throws(Failure) -> Output in
                try await self(input)
            }
            switch outcome {
            case .success(let output): return output
            case .gaveUp(let failure, _), .cancelled(let failure): throw failure
            }
        }
    }

    /// Waits before it runs.
    ///
    /// - Parameters:
    ///   - delay: Zero or less does not wait.
    ///   - clock: Measures the delay. Default: `ContinuousClock`.
    ///   - cancelled: The error when the task is cancelled during the wait, which then ends at once; the
    ///     function does not run.
    public func delayed<C: Clock>(
        by delay: Duration, clock: C = ContinuousClock(), failingWith cancelled: Failure
    ) -> Self where C.Duration == Duration {
        Self { input throws(Failure) in
            if delay > .zero {
                do {
                    try await clock.sleep(until: clock.now.advanced(by: delay), tolerance: nil)
                } catch {
                    throw cancelled
                }
            }
            return try await self(input)
        }
    }
}

extension AsyncFallibleOperation where Failure == any Error {
    /// Waits before it runs. When the task is cancelled during the wait it ends at once with a
    /// `CancellationError` and the function does not run.
    ///
    /// - Parameters:
    ///   - delay: Zero or less does not wait.
    ///   - clock: Measures the delay. Default: `ContinuousClock`.
    public func delayed<C: Clock>(
        by delay: Duration, clock: C = ContinuousClock()
    ) -> Self where C.Duration == Duration {
        delayed(by: delay, clock: clock, failingWith: CancellationError())
    }
}
