import LayoverCore

/// One attempt that meets a rehearsal. Confined to the loop of its worker, like the calls it gets.
protocol PlayedAttempt: AnyObject {
    /// Whether the attempt has to be told how time goes on.
    var needsTime: Bool { get }
    /// Aborts the attempt. It still ends with one last event.
    func cancel()
    /// Aborts the attempt if no connection has come about.
    func cancelIfConnecting()
    func resumeReceiving()
    func timePassed(to now: Timestamp)
    /// The worker that makes real attempts aborts those that it knows. Any other is aborted here.
    func workerShutsDown()
}

extension UpstreamEvent {
    /// Whether the event is the last one of its attempt.
    var isLast: Bool {
        switch self {
        case .end, .failed, .dialled: true
        case .bodyWanted, .bodyUnwanted, .interim, .head, .body, .endWithheld, .complete: false
        }
    }
}
