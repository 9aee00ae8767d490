/// One try at an operation.
public struct RetryAttempt: Sendable {
    /// 1 for the first attempt.
    public let number: Int

    /// What the attempt before this one threw. Nil for the first.
    public let lastError: (any Error)?

    /// Whether the operation was tried before.
    public var isRetry: Bool { number > 1 }

    init(number: Int, lastError: (any Error)?) {
        self.number = number
        self.lastError = lastError
    }
}
