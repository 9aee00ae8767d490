package import LayoverEngine
package import LayoverHTTP
package import NIOCore
import Synchronization

/// An upstream without a network: tests see each attempt and say what comes of it, event by event.
///
/// What a worker must never be asked to do is kept as a complaint; tests expect that there is none.
package final class ScriptedUpstream: Upstream {
    /// The actions of the proxy so far.
    package struct Record: Sendable {
        package var workerCount = 0
        package var startedCount = 0
        package var unclaimed: [ScriptedAttempt] = []
        package var networkChangeCount = 0
        /// Numbers of the clients that have left.
        package var clientsThatLeft: [Int] = []
        package var shutDownCount = 0
        package var complaints: [String] = []
    }

    package let record = Watched(Record())
    private let script: @Sendable (ScriptedAttempt) -> Void

    /// - Parameter script: Runs for each attempt at once, on the loop. Default: the test decides later.
    package init(script: @escaping @Sendable (ScriptedAttempt) -> Void = { _ in }) {
        self.script = script
    }

    package let blocksForPermits = true

    package func makeWorker(
        for eventLoop: any EventLoop, batchEnded: @escaping @Sendable () -> Void
    ) -> any UpstreamWorker {
        record.update { $0.workerCount += 1 }
        return ScriptedWorker(upstream: self, eventLoop: eventLoop, batchEnded: batchEnded)
    }

    /// The next attempt that was started and not taken yet.
    package func nextAttempt(_ what: String = "an attempt") async throws -> ScriptedAttempt {
        try await record.take(what) { $0.unclaimed.isEmpty ? nil : $0.unclaimed.removeFirst() }
    }

    package var startedCount: Int { record.value.startedCount }
    package var complaints: [String] { record.value.complaints }

    func started(_ attempt: ScriptedAttempt) {
        record.update {
            $0.startedCount += 1
            $0.unclaimed.append(attempt)
        }
        script(attempt)
    }

    func complain(_ text: String) { record.update { $0.complaints.append(text) } }
}

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

extension RequestFields {
    /// - Parameter texts: Each `Name: value`, or `Name:` for an empty value.
    package init(_ texts: [String]) {
        self.init()
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            append(String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
    }
}
