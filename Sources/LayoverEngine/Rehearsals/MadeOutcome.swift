import LayoverCore
import LayoverHTTP
import NIOCore
import Synchronization

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
