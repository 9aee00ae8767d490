import LayoverCore
import Synchronization

/// An attempt whose connection does not come about. Nothing is sent.
///
/// The attempt behaves as if its packets were lost. It fails when the time-out for connecting has passed. If the rehearsal ends before
/// that, the attempt is made as usual.
final class HungAttempt: PlayedAttempt {
    private let attempt: UpstreamAttempt
    private let rehearsal: Rehearsal
    private let worker: RehearsedWorker
    private let limitAt: Timestamp

    init(_ attempt: UpstreamAttempt, _ rehearsal: Rehearsal, on worker: RehearsedWorker) {
        self.attempt = attempt
        self.rehearsal = rehearsal
        self.worker = worker
        limitAt = worker.now + attempt.request.timeouts.connect
        attempt.isConnecting.store(true, ordering: .relaxed)
    }

    var needsTime: Bool { true }

    func timePassed(to now: Timestamp) {
        if now >= limitAt {
            worker.end(attempt, rehearsal.connectTimeout(attempt.request.timeouts.connect))
        } else if !worker.isOn(rehearsal) {
            worker.ended(attempt)
            worker.start(attempt)
        }
    }

    func cancel() { worker.end(attempt, .abortedByProxy) }
    func cancelIfConnecting() { cancel() }
    func resumeReceiving() {}
    func workerShutsDown() { cancel() }
}
