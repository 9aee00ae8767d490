/// Runs an operation, and runs it again as a policy says until it succeeds.
///
/// ```swift
/// let page = try await retry(RetryPolicy(attemptCountMax: 5), wakeOn: reachability) { attempt in
///     try await download(url)
/// }
/// ```
///
/// **Waiting.** Between two attempts it waits for the schedule's delay or for an element of `wake`, whichever
/// comes first. A wake-up that comes while an attempt runs ends the wait after it at once, because the
/// attempt may have failed on the way as it was before; several such wake-ups count as one, and none from
/// before the attempt counts. When `wake` ends or throws, the timer alone decides.
///
/// **Cancellation.** When the task is cancelled the wait ends at once with a `CancellationError`. An attempt
/// under way is told like any code in a cancelled task; if it returns a value all the same, that value is the
/// result, and if it throws, `CancellationError` is thrown in place of its error. A `CancellationError` that an
/// attempt throws by itself is never retried.
///
/// **Tasks.** All work is structured: when this function returns, nothing of it is left. For that the iterator
/// of `wake` has to return when its task is cancelled, as those of `AsyncStream` and ``WakeSignal`` do.
///
/// - Parameters:
///   - policy: How often, how long, for which errors. Default: three attempts, ``DelaySchedule/standard``.
///   - clock: Measures the delays and the deadline. Default: `ContinuousClock`, which goes on while the
///     machine sleeps.
///   - wake: Each element ends a wait. Read by one task from the first attempt to the last; an `AsyncStream`
///     can therefore serve only one call, a ``WakeSignal`` many. Default: none.
///   - generator: Source of jitter, copied. Default: the system's.
///   - onExhausted: Called with the last error when the attempts, the time or the budget are used up; what
///     it returns is the result. Not called for errors that are not worth retrying, nor on cancellation.
///     Default: throws the error on.
///   - operation: Runs where the caller runs, so it need not be `Sendable`. Called for one attempt at a time.
/// - Returns: What the first attempt that succeeded returned, or `onExhausted`.
/// - Throws: The error of the last attempt as it was, what `onExhausted` throws, or `CancellationError`.
public nonisolated(nonsending) func retry<
    Output, C: Clock, Wake: AsyncSequence & Sendable, Generator: RandomNumberGenerator
>(
    _ policy: RetryPolicy = RetryPolicy(),
    clock: C = ContinuousClock(),
    wakeOn wake: Wake = NoWakeUps(),
    using generator: Generator = SystemRandomNumberGenerator(),
    onExhausted: (any Error) throws -> Output = { throw $0 },
    operation: nonisolated(nonsending) (RetryAttempt) async throws -> Output
) async throws -> Output where C.Duration == Duration {
    try Task.checkCancellation()
    var run = RetryRun(policy: policy, clock: clock, generator: generator)
    let outcome: RetryOutcome<Output, any Error> = await run.outcome(wakeOn: wake, of: operation)
    switch outcome {
    case .success(let output): return output
    case .gaveUp(let error, .notWorthRetrying): throw error
    case .gaveUp(let error, _): return try onExhausted(error)
    case .cancelled: throw CancellationError()
    }
}
