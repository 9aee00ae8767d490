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
