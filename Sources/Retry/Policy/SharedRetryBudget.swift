import Synchronization

/// A ``RetryBudget`` that many tasks draw on: usually one per server or service that is called.
///
/// ```swift
/// let budget = SharedRetryBudget(RetryBudget(ratio: 0.2, minimum: 3))
/// let policy = RetryPolicy(attemptCountMax: 5, budget: budget)
/// ```
public final class SharedRetryBudget: Sendable {
    private let budget: Mutex<RetryBudget>

    /// Shares a budget.
    ///
    /// - Parameter budget: Copied. Default: a fifth of the operations, at least 3 retries at once.
    public init(_ budget: RetryBudget = RetryBudget()) { self.budget = Mutex(budget) }

    /// The budget as it is now.
    public var current: RetryBudget { budget.withLock { $0 } }

    /// An operation began. Retries of it do not count as beginning.
    public func operationStarted() { budget.withLock { $0.operationStarted() } }

    /// Asks for a retry. Nil: the retry must not be made.
    public func retryRequested() -> RetryBudget.Grant? { budget.withLock { $0.retryRequested() } }

    /// The retry is over, well or not. Call once for each grant, unless the retry was abandoned.
    public func retryEnded(_ grant: RetryBudget.Grant) { budget.withLock { $0.retryEnded(grant) } }

    /// The retry was granted but never made.
    public func retryAbandoned(_ grant: RetryBudget.Grant) {
        budget.withLock { $0.retryAbandoned(grant) }
    }
}
