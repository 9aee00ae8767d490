import LayoverEngine

/// What a worker is asked to do.
enum WorkerCommand: Sendable {
    case start(UpstreamAttempt)
    case cancel(UpstreamAttempt)
    case cancelIfConnecting(UpstreamAttempt)
    case resumeReceiving(UpstreamAttempt)
    /// A body that had no bytes to send may have some now. The transfer is named by slot and serial, not by reference: the body holds the
    /// closure that posts this command, and a reference would keep the request of the body alive.
    case resumeSending(slot: Int, serial: UInt64)
    /// The time is that of the call, on `MonotonicClock`.
    case networkChanged(at: UInt64)
    /// The resolver has an answer that this worker asked for.
    case nameAnswered(String, NameAnswer)
    case ping(@Sendable () -> Void)
    case shutDown
}
