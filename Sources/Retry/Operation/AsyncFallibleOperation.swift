/// An asynchronous function that can fail, as a value that can be chained, delayed, retried and sent to an
/// executor.
///
/// Each method returns a new operation around this one, so the order says what is repeated: in the example
/// the download is tried up to three times, and decoding is never repeated.
///
/// ```swift
/// let page = AsyncFallibleOperation { (url: String) async throws(LoadError) in try await load(url) }
///     .retrying(RetryPolicy(attemptCountMax: 3))
///     .flatMap { data throws(LoadError) in try decode(data) }
/// let result = await page.result(of: .success("https://example.com"))
/// ```
public struct AsyncFallibleOperation<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    private let function: @Sendable (Input) async throws(Failure) -> Output

    /// Wraps a function. Each call of the operation calls it once.
    ///
    /// A function isolated to an actor runs on that actor; any other runs on the task's preferred executor,
    /// or else on the shared thread pool.
    public init(_ function: @escaping @Sendable (Input) async throws(Failure) -> Output) {
        self.function = function
    }

    /// Runs the operation.
    public func callAsFunction(_ input: Input) async throws(Failure) -> Output {
        try await function(input)
    }

    /// Runs the operation on the value of a result. A failure passes through and nothing runs.
    public func result(of input: Result<Input, Failure>) async -> Result<Output, Failure> {
        do throws(Failure) {
            return .success(try await function(try input.get()))
        } catch {
            return .failure(error)
        }
    }

    /// Runs the operation on an executor of the caller's choice, wherever it is called from.
    ///
    /// The preference holds for the wrapped function and the child tasks it makes, not for functions
    /// isolated to an actor, and not for what is chained behind it.
    public func running(on executor: any TaskExecutor) -> Self {
        Self { [function] input throws(Failure) in
            try await withTaskExecutorPreference(executor) { () async throws(Failure) -> Output in
                try await function(input)
            }
        }
    }
}

extension AsyncFallibleOperation {
    /// Changes what comes out.
    public func map<New>(
        _ transform: @escaping @Sendable (Output) -> New
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        AsyncFallibleOperation<Input, New, Failure> { input throws(Failure) in
            transform(try await self(input))
        }
    }

    /// Changes the error.
    public func mapError<New: Error>(
        _ transform: @escaping @Sendable (Failure) -> New
    ) -> AsyncFallibleOperation<Input, Output, New> {
        AsyncFallibleOperation<Input, Output, New> { input throws(New) in
            do throws(Failure) {
                return try await self(input)
            } catch {
                throw transform(error)
            }
        }
    }

    /// Feeds what comes out to another operation. When this one fails the other does not run.
    public func flatMap<New>(
        _ next: AsyncFallibleOperation<Output, New, Failure>
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        AsyncFallibleOperation<Input, New, Failure> { input throws(Failure) in
            try await next(try await self(input))
        }
    }

    /// Feeds what comes out to another function that can fail.
    public func flatMap<New>(
        _ next: @escaping @Sendable (Output) async throws(Failure) -> New
    ) -> AsyncFallibleOperation<Input, New, Failure> {
        flatMap(AsyncFallibleOperation<Output, New, Failure>(next))
    }

    /// Ends in success with a stand-in value where it would fail.
    public func recovering(
        _ standIn: @escaping @Sendable (Failure) -> Output
    ) -> AsyncFallibleOperation<Input, Output, Never> {
        AsyncFallibleOperation<Input, Output, Never> { input in
            do throws(Failure) {
                return try await self(input)
            } catch {
                return standIn(error)
            }
        }
    }
}

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
