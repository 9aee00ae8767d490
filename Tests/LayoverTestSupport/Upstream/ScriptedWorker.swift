import LayoverEngine
import NIOCore
import Synchronization

/// The worker of one loop. Confined to that loop, like the calls it gets.
///
/// `@unchecked Sendable`: `running` and `isShutDown` are touched on the loop only.
final class ScriptedWorker: UpstreamWorker, @unchecked Sendable {
    private let upstream: ScriptedUpstream
    let eventLoop: any EventLoop
    let batchEnded: @Sendable () -> Void
    private var running: [ObjectIdentifier: ScriptedAttempt] = [:]
    private var isShutDown = false

    init(
        upstream: ScriptedUpstream, eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) {
        self.upstream = upstream
        self.eventLoop = eventLoop
        self.batchEnded = batchEnded
    }

    func start(_ attempt: UpstreamAttempt) {
        eventLoop.preconditionInEventLoop()
        if isShutDown { complain("start after shutDown", attempt) }
        if running[ObjectIdentifier(attempt)] != nil { complain("started twice", attempt) }
        if (attempt.request.body == nil) != (attempt.request.framing == .none) {
            complain("body and framing disagree", attempt)
        }
        let scripted = ScriptedAttempt(attempt, worker: self)
        // An attempt for the rest of a response starts with the bytes that the client has not taken of the first part.
        let outstanding = attempt.bytesOutstanding.load(ordering: .relaxed)
        if outstanding != 0, scripted.values("Range").isEmpty { complain("not fresh", attempt) }
        running[ObjectIdentifier(attempt)] = scripted
        upstream.started(scripted)
    }

    func cancel(_ attempt: UpstreamAttempt) {
        known(attempt, "cancel")?.cancelled()
    }

    func cancelIfConnecting(_ attempt: UpstreamAttempt) {
        guard let scripted = known(attempt, "cancelIfConnecting") else { return }
        if !attempt.hasBegunSending.load(ordering: .relaxed) { scripted.cancelled() }
    }

    func resumeReceiving(_ attempt: UpstreamAttempt) {
        known(attempt, "resumeReceiving")?.resumed()
    }

    func networkChanged() {
        eventLoop.preconditionInEventLoop()
        upstream.record.update { $0.networkChangeCount += 1 }
    }

    func clientLeft(_ client: Int) {
        eventLoop.preconditionInEventLoop()
        upstream.record.update { $0.clientsThatLeft.append(client) }
    }

    func shutDown() {
        eventLoop.preconditionInEventLoop()
        isShutDown = true
        upstream.record.update { $0.shutDownCount += 1 }
        for attempt in running.values { attempt.cancelled() }
    }

    func ended(_ attempt: ScriptedAttempt) { running[ObjectIdentifier(attempt.attempt)] = nil }

    func complain(_ text: String, _ attempt: UpstreamAttempt) {
        upstream.complain("\(text): attempt \(attempt.number) of \(attempt.request.method) \(attempt.request.target)")
    }

    /// On the loop an attempt is over when its last event was delivered: later calls are nonsense.
    private func known(_ attempt: UpstreamAttempt, _ call: String) -> ScriptedAttempt? {
        eventLoop.preconditionInEventLoop()
        guard let scripted = running[ObjectIdentifier(attempt)] else {
            complain("\(call) of an attempt that is over", attempt)
            return nil
        }
        return scripted
    }
}
