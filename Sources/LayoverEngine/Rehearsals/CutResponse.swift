import LayoverCore
import LayoverHTTP
import NIOCore
import Synchronization

/// A real attempt whose response is cut off after so many bytes, head included. The request reaches its host.
///
/// The head counts as it is passed on, and the body without its chunk framing.
final class CutResponse: PlayedAttempt, UpstreamReceiver {
    private let attempt: UpstreamAttempt
    private let receiver: any UpstreamReceiver
    private let rehearsal: Rehearsal
    private let worker: RehearsedWorker
    /// Bytes that still come through.
    private var left: Int
    private var isAnswered = false
    private var isCancelled = false
    /// Whether the receiver has got its last event, and the real attempt has not ended yet.
    private var isCut = false

    init(of attempt: UpstreamAttempt, after count: Int, _ rehearsal: Rehearsal, on worker: RehearsedWorker) {
        self.attempt = attempt
        self.rehearsal = rehearsal
        self.worker = worker
        left = count
        receiver = attempt.receiver
        attempt.receiver = self
        // For the evidence: the request is really sent.
        attempt.wantsConnectionFacts = true
    }

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        if event.isLast {
            worker.ended(attempt)
            // Otherwise the two would hold one another for ever.
            attempt.receiver = receiver
        }
        guard !isCut else { return }
        guard !isCancelled, let size = event.responseByteCount, size > left, worker.isOn(rehearsal) else {
            left -= event.responseByteCount ?? 0
            if case .head = event {
                isAnswered = true
                attempt.connectionFacts?.becomeRehearsed()
            }
            return receiver.receive(event, of: attempt)
        }
        if case .body(var bytes) = event, let part = bytes.readSlice(length: left), left > 0 {
            left = 0
            receiver.receive(.body(part), of: attempt)
            // The receiver may have had enough of it.
            if isCancelled { return }
        }
        cut()
    }

    private func cut() {
        isCut = true
        worker.real.cancel(attempt)
        var failure = rehearsal.cutOff(isAnswered: isAnswered)
        let facts = attempt.connectionFacts
        failure.bytesSent = facts?.bytesSent ?? attempt.bodyBytesSent.load(ordering: .relaxed)
        failure.localAddress = facts?.localAddress
        failure.remoteAddress = facts?.remoteAddress
        receiver.receive(.failed(failure), of: attempt)
    }

    var needsTime: Bool { false }

    func cancel() {
        isCancelled = true
        if !isCut { worker.real.cancel(attempt) }
    }

    func cancelIfConnecting() { worker.real.cancelIfConnecting(attempt) }
    func resumeReceiving() { if !isCut { worker.real.resumeReceiving(attempt) } }
    func timePassed(to now: Timestamp) {}
    func workerShutsDown() {}
}
