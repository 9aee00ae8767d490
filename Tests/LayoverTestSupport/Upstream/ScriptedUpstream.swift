package import LayoverEngine
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
