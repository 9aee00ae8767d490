/// A function that can fail, as a value that can be chained and retried.
///
/// This is the synchronous kind; ``AsyncFallibleOperation`` is the other one, and ``asynchronous()`` leads
/// there. The error type is part of the type, and `Never` where nothing can fail any more.
///
/// ```swift
/// let number = FallibleOperation { (text: String) throws(ParseError) in try parse(text) }
/// let half = number.map { $0 / 2 }
/// try half("84")                 // 42
/// half.result(of: .success("84")) // .success(42)
/// ```
public struct FallibleOperation<Input, Output, Failure: Error>: Sendable {
    private let function: @Sendable (Input) throws(Failure) -> Output

    /// Wraps a function. Each call of the operation calls it once.
    public init(_ function: @escaping @Sendable (Input) throws(Failure) -> Output) {
        self.function = function
    }

    /// Runs the operation.
    public func callAsFunction(_ input: Input) throws(Failure) -> Output {
        try function(input)
    }

    /// Runs the operation on the value of a result. A failure passes through and nothing runs.
    public func result(of input: Result<Input, Failure>) -> Result<Output, Failure> {
        input.flatMap { input in Result { () throws(Failure) in try function(input) } }
    }

    /// Changes what comes out.
    public func map<New>(
        _ transform: @escaping @Sendable (Output) -> New
    ) -> FallibleOperation<Input, New, Failure> {
        FallibleOperation<Input, New, Failure> { [function] input throws(Failure) in
            transform(try function(input))
        }
    }

    /// Changes the error.
    public func mapError<New: Error>(
        _ transform: @escaping @Sendable (Failure) -> New
    ) -> FallibleOperation<Input, Output, New> {
        FallibleOperation<Input, Output, New> { [function] input throws(New) in
            do throws(Failure) {
                return try function(input)
            } catch {
                throw transform(error)
            }
        }
    }

    /// Feeds what comes out to another operation. When this one fails the other does not run.
    public func flatMap<New>(
        _ next: FallibleOperation<Output, New, Failure>
    ) -> FallibleOperation<Input, New, Failure> {
        FallibleOperation<Input, New, Failure> { [function] input throws(Failure) in
            try next(try function(input))
        }
    }

    /// Feeds what comes out to another function that can fail.
    public func flatMap<New>(
        _ next: @escaping @Sendable (Output) throws(Failure) -> New
    ) -> FallibleOperation<Input, New, Failure> {
        flatMap(FallibleOperation<Output, New, Failure>(next))
    }

    /// Ends in success with a stand-in value where it would fail.
    public func recovering(
        _ standIn: @escaping @Sendable (Failure) -> Output
    ) -> FallibleOperation<Input, Output, Never> {
        FallibleOperation<Input, Output, Never> { [function] input in
            do throws(Failure) {
                return try function(input)
            } catch {
                return standIn(error)
            }
        }
    }

    /// Tries again at once, without a wait, because a synchronous function can only wait by blocking its
    /// thread. ``retrying(_:clock:wakeOn:)`` waits.
    ///
    /// - Parameters:
    ///   - attemptCountMax: Most attempts, the first included. Less than 1 counts as 1.
    ///   - isWorthRetrying: Says whether another attempt can help. Default: always.
    public func retryingAtOnce(
        attemptCountMax: Int, where isWorthRetrying: @escaping @Sendable (Failure) -> Bool = { _ in true }
    ) -> Self {
        Self { [function] input throws(Failure) in
            var attempt = 1
            while true {
                do throws(Failure) {
                    return try function(input)
                } catch {
                    guard attempt < attemptCountMax, isWorthRetrying(error) else { throw error }
                    attempt += 1
                }
            }
        }
    }
}

extension FallibleOperation where Input: Sendable, Output: Sendable {
    /// The same operation, run where asynchronous code without an actor runs: on the task's preferred
    /// executor, or else on the shared thread pool.
    public func asynchronous() -> AsyncFallibleOperation<Input, Output, Failure> {
        AsyncFallibleOperation { [function] input throws(Failure) in try function(input) }
    }

    /// Tries again as a policy says, with its waits. See
    /// ``AsyncFallibleOperation/retrying(_:clock:wakeOn:)``.
    public func retrying<C: Clock, Wake: AsyncSequence & Sendable>(
        _ policy: RetryPolicy = RetryPolicy(), clock: C = ContinuousClock(),
        wakeOn wake: @escaping @Sendable () -> Wake = { NoWakeUps() }
    ) -> AsyncFallibleOperation<Input, Output, Failure> where C.Duration == Duration {
        asynchronous().retrying(policy, clock: clock, wakeOn: wake)
    }
}
