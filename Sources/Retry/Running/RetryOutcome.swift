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
