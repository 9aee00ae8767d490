import LayoverCore
import LayoverHTTP
import NIOCore
import Synchronization

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

    /// Bytes of the response that the event brings, without chunk framing. Nil: the event is no part of the response.
    var responseByteCount: Int? {
        switch self {
        case .head(let head, _): head.byteCount
        case .body(let bytes): bytes.readableBytes
        case .bodyWanted, .bodyUnwanted, .interim, .endWithheld, .complete, .end, .failed, .dialled: nil
        }
    }
}

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

/// An attempt that is not made: its events come from the rehearsal. Nothing is sent.
final class MadeOutcome: PlayedAttempt {
    private let events: [UpstreamEvent]
    private let attempt: UpstreamAttempt
    private let worker: RehearsedWorker
    private var isCancelled = false

    /// - Parameter events: The last one ends the attempt.
    init(_ events: [UpstreamEvent], of attempt: UpstreamAttempt, on worker: RehearsedWorker) {
        self.events = events
        self.attempt = attempt
        self.worker = worker
    }

    func deliver() {
        for event in events {
            let event = isCancelled ? UpstreamEvent.failed(.abortedByProxy) : event
            if case .body(let bytes) = event { attempt.bytesOutstanding.add(bytes.readableBytes, ordering: .relaxed) }
            if event.isLast { worker.ended(attempt) }
            attempt.receiver.receive(event, of: attempt)
            if event.isLast { return }
        }
    }

    var needsTime: Bool { false }
    func cancel() { isCancelled = true }
    func cancelIfConnecting() { isCancelled = true }
    func resumeReceiving() {}
    func timePassed(to now: Timestamp) {}
    func workerShutsDown() { isCancelled = true }
}

extension MadeResponse {
    /// The response as a real worker would report it.
    func events(toHead isHead: Bool) -> [UpstreamEvent] {
        // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5.
        let hasBody = ![204, 205, 304].contains(status)
        var lines = ["HTTP/1.1 \(status) Rehearsal"]
        for field in fields where hasBody || field.name != "Content-Type" { lines.append("\(field.name): \(field.value)") }
        if hasBody || status == 205 { lines.append("Content-Length: \(hasBody ? body.utf8.count : 0)") }
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: isHead)
        for line in lines + [""] {
            guard let head = Array((line + "\r\n").utf8).withUnsafeBytes({ try? assembler.take(line: $0) }) ?? nil else { continue }
            let content: [UpstreamEvent] = hasBody && !isHead ? [.body(ByteBuffer(string: body))] : []
            return [.head(head, sendings: 1)] + content + [.end(trailers: nil)]
        }
        return [.failed(.abortedByProxy)]
    }
}
