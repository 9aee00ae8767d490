import LayoverEngine

/// What a worker is asked to do.
enum WorkerCommand: Sendable {
    case start(UpstreamAttempt)
    case cancel(UpstreamAttempt)
    case cancelIfConnecting(UpstreamAttempt)
    case resumeReceiving(UpstreamAttempt)
    /// A body that had nothing may have something now. Named by place and number, not by reference:
    /// the body keeps the closure that says this, and must not keep its own request alive by it.
    case resumeSending(slot: Int, serial: UInt64)
    /// The time is that of the call, on `MonotonicClock`.
    case networkChanged(at: UInt64)
    /// The resolver has an answer that this worker asked for.
    case nameAnswered(String, NameAnswer)
    case ping(@Sendable () -> Void)
    case shutDown
}
