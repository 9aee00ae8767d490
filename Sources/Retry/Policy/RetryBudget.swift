import Synchronization

/// A token bucket that keeps retries from multiplying the load on something that is already in trouble.
///
/// Each operation earns a part of a token when it starts, and a retry costs a whole one; so at a ratio of
/// 0.2 retries add at most a fifth to the load. A few retries may always be under way at once, however
/// empty the bucket: without them a program with little traffic could never retry at all.
///
/// The budget is a plain value, for those who protect it by their own means. ``SharedRetryBudget`` is the
/// same for many tasks.
///
/// - SeeAlso: Google's *Site Reliability Engineering*, chapter "Handling Overload", on retry budgets.
public struct RetryBudget: Sendable, Hashable {
    /// What paid for a retry. Give it back when the retry is over.
    public enum Grant: Sendable, Hashable {
        /// One of the retries that may always be under way.
        case minimum
        /// A token from the bucket.
        case token
    }

    /// Retries that may always be under way at once.
    public private(set) var minimum: Int
    /// Retries under way that the minimum paid for.
    public private(set) var minimumInUse = 0
    /// Counted in thousandths, because adding 0.1 ten times to a floating-point number does not make 1.
    private var thousandths = 0
    private var earnedThousandths: Int
    private let thousandthsMax: Int

    /// Makes a budget with an empty bucket.
    ///
    /// - Parameters:
    ///   - ratio: Tokens that an operation earns when it starts, kept to three decimals. Less than 0
    ///     counts as 0, more than 1 000 as 1 000. Default: 0.2.
    ///   - minimum: Retries that may always be under way at once. Less than 0 counts as 0. Default: 3.
    ///   - tokenCountMax: Tokens that fit into the bucket: the largest burst of retries after a long time
    ///     without trouble, besides the minimum. 0 to 1 000 000. Default: 100.
    public init(ratio: Double = 0.2, minimum: Int = 3, tokenCountMax: Int = 100) {
        self.minimum = max(0, minimum)
        earnedThousandths = Self.earnedThousandths(ratio)
        thousandthsMax = min(max(0, tokenCountMax), 1_000_000) * 1000
    }

    private static func earnedThousandths(_ ratio: Double) -> Int { ratio > 0 ? Int((min(ratio, 1000) * 1000).rounded()) : 0 }

    /// Gives it other bounds. What is under way and what is in the bucket stay.
    package mutating func limit(ratio: Double, minimum: Int) {
        self.minimum = max(0, minimum)
        earnedThousandths = Self.earnedThousandths(ratio)
    }

    /// Whole tokens in the bucket.
    public var tokenCount: Int { thousandths / 1000 }

    /// Retries that would be granted now.
    public var availableCount: Int { max(0, minimum - minimumInUse) + tokenCount }

    /// An operation began. Retries of it do not count as beginning.
    public mutating func operationStarted() {
        thousandths = min(thousandthsMax, thousandths + earnedThousandths)
    }

    /// Somebody wants to retry.
    ///
    /// - Returns: What paid for it, or nil if the retry must not be made.
    public mutating func retryRequested() -> Grant? {
        if minimumInUse < minimum {
            minimumInUse += 1
            return .minimum
        }
        guard thousandths >= 1000 else { return nil }
        thousandths -= 1000
        return .token
    }

    /// The retry is over, well or not. Call once for each grant, unless the retry was abandoned.
    public mutating func retryEnded(_ grant: Grant) {
        if grant == .minimum { minimumInUse = max(0, minimumInUse - 1) }
    }

    /// The retry was granted but never made. The token goes back into the bucket.
    public mutating func retryAbandoned(_ grant: Grant) {
        switch grant {
        case .minimum: retryEnded(grant)
        case .token: thousandths = min(thousandthsMax, thousandths + 1000)
        }
    }
}

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
