import LayoverCore
import LayoverHTTP
import NIOCore

/// A real attempt whose response trickles, head included. The request reaches its host.
///
/// What the host has sent waits here. It counts as bytes that the receiver has not taken, so the real worker pauses when it is
/// too much. Once the rehearsal is over the rest comes as fast as it can.
final class SlowResponse: PlayedAttempt, UpstreamReceiver {
    private let attempt: UpstreamAttempt
    private let receiver: any UpstreamReceiver
    private let rehearsal: Rehearsal
    private let worker: RehearsedWorker
    private let rate: Int
    /// Nil until the response begins.
    private var trickle: Trickle?
    private var waiting = CircularBuffer<UpstreamEvent>()
    /// Whether the last event of the real attempt waits here or was passed on.
    private var isRealOver = false
    private var isCancelled = false
    private var isPassing = false

    init(of attempt: UpstreamAttempt, bytesPerSecond: Int, _ rehearsal: Rehearsal, on worker: RehearsedWorker) {
        self.attempt = attempt
        self.rehearsal = rehearsal
        self.worker = worker
        rate = bytesPerSecond
        receiver = attempt.receiver
        attempt.receiver = self
    }

    // MARK: Events

    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt) {
        if event.isLast { isRealOver = true }
        if isCancelled {
            if event.isLast { pass(event) }
            return
        }
        if case .head = event {
            attempt.connectionFacts?.becomeRehearsed()
            trickle = Trickle(bytesPerSecond: rate, startedAt: worker.now)
        }
        waiting.append(event)
        passWhatHasCome(by: worker.now)
    }

    private func passWhatHasCome(by now: Timestamp) {
        // The receiver may make calls that lead here again.
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        let isSlow = worker.isOn(rehearsal)
        while !isCancelled, let event = waiting.first {
            let allowance = isSlow ? trickle?.allowance(at: now) ?? .max : .max
            let size = event.responseByteCount ?? 0
            if size > allowance {
                passPart(of: event, allowance)
                return
            }
            waiting.removeFirst()
            trickle?.passed(size)
            pass(event)
        }
    }

    /// A body comes in parts, a head comes whole.
    private func passPart(of event: UpstreamEvent, _ count: Int) {
        guard case .body(var bytes) = event, count > 0, let part = bytes.readSlice(length: count) else { return }
        waiting[waiting.startIndex] = .body(bytes)
        trickle?.passed(count)
        pass(.body(part))
    }

    private func pass(_ event: UpstreamEvent) {
        if event.isLast {
            worker.ended(attempt)
            // Otherwise the two would hold one another for ever.
            attempt.receiver = receiver
        }
        receiver.receive(event, of: attempt)
    }

    // MARK: Calls

    var needsTime: Bool { true }

    func timePassed(to now: Timestamp) { passWhatHasCome(by: now) }

    func cancel() {
        isCancelled = true
        waiting.removeAll()
        guard isRealOver else { return worker.real.cancel(attempt) }
        var failure = Failure.abortedByProxy
        failure.phase = .receiving
        failure.evidence = .answered
        attempt.receiver = receiver
        worker.end(attempt, failure)
    }

    func cancelIfConnecting() { if !isRealOver { worker.real.cancelIfConnecting(attempt) } }
    func resumeReceiving() { if !isRealOver { worker.real.resumeReceiving(attempt) } }
    func workerShutsDown() { if isRealOver { cancel() } }
}
